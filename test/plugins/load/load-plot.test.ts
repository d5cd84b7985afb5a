import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadPlot } from '../../../plugins/load/load-plot.js';
import type { LoadResult, LoadRow } from '../../../plugins/load/load-result.js';

/** A row with these percentiles, measured and predicted. */
function rowAt(perSecond: number, figures: Readonly<Record<string, number>> | null): LoadRow {
  const predicted = figures === null ? null : { value: figures };
  return { model: 'net', offered_per_second: perSecond, measured: figures, predicted } as unknown as LoadRow;
}

const resultOf = (rows: readonly LoadRow[], bound: string | null): LoadResult => {
  return { rows, rates: [], settings: { scenario: 'server', bound } } as unknown as LoadResult;
};

const labelsOf = (svg: string): readonly string[] =>
  [...svg.matchAll(/>(p[\d.]+(?: predicted)?)</g)].map(([, label = '']) => label);

test('latency over the rate shows the percentile of the bound, predicted beside measured', () => {
  const rows = [10, 20].map((rate) => rowAt(rate, { p50_ms: 5, p90_ms: rate, p99_ms: 3 * rate }));
  assert.deepEqual(labelsOf(loadPlot(resultOf(rows, '20ms@p90'))), ['p50', 'p50 predicted', 'p90', 'p90 predicted']);
  assert.deepEqual(labelsOf(loadPlot(resultOf(rows, null))), ['p50', 'p50 predicted', 'p99', 'p99 predicted']);
});

test('trials without figures have no place', () => {
  const svg = loadPlot(resultOf([rowAt(10, { p50_ms: 5 }), rowAt(1000, null)], null));
  assert.deepEqual(labelsOf(svg), ['p50', 'p50 predicted']);
  assert.equal(svg.includes('>1000<'), false);
});

test('throughput over the batch shows measured and predicted', () => {
  const rows = [1, 2].map((batch) => ({ ...rowAt(0, { samples_per_second: 10 * batch }), samples: [batch] }));
  const svg = loadPlot({ rows, rates: [], settings: { scenario: 'batch', bound: null } } as unknown as LoadResult);
  assert.deepEqual(
    [...svg.matchAll(/>(measured|predicted|Throughput over the batch)</g)].map(([, text]) => text).toSorted(),
    ['Throughput over the batch', 'measured', 'predicted'],
  );
});
