import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TraceEstimator } from '../../../../plugins/dlbricks/traces/estimate-from-traces.js';
import { openTraceBook } from '../../../../plugins/dlbricks/traces/trace-book.js';
import { buildTraceReport } from '../../../../plugins/dlbricks/traces/trace-report.js';
import { shownTraceReport } from '../../../../plugins/dlbricks/traces/trace-tables.js';
import { type Row, traced } from './table.js';

/** Six models that share layers, each measured whole as well, so that their estimates have intervals. */
function shown() {
  const models = Array.from({ length: 6 }, (_, m) => {
    const rows = Array.from({ length: 8 }, (_, i): Row => ['Conv', 10 * (i + 1), 1 + i / 10 + m / 100]);
    return traced(`a-model-with-a-rather-long-name-${m}`, rows, { wholeMs: [11 + m / 10] });
  });
  const settings = { reuse: 'all', statistic: 'median', fill: false, calibrate: false } as const;
  const book = openTraceBook(models, undefined);
  const estimator = new TraceEstimator(book, settings);
  const sums = book.targets.map((target) => estimator.sum(target));
  const known = book.targets.map((target) => estimator.sum(target, 'others'));
  const report = buildTraceReport(sums, known, book, {
    ...settings,
    system: 'here',
    sources: [],
    granularity: undefined,
  });
  return shownTraceReport(report);
}

describe('estimates from traces', () => {
  for (const width of [80, 60]) {
    test(`fit ${width} columns, always with the interval, and name the columns that are left out`, () => {
      const text = shown().text({ color: false, width });
      for (const line of text.split('\n')) assert.ok(line.length <= width, line);
      assert.match(text, /│ +95 % │/);
      assert.match(text, /│ \d+\.\d+ to \d+\.\d+ │/);
      assert.match(text, /^This terminal is too narrow for: layers, /m);
    });
  }

  test('have all columns where there is room', () => {
    const text = shown().text({ color: false, width: undefined });
    assert.doesNotMatch(text, /too narrow/);
    assert.match(text, /│ model +│ layers │ unique │ estimate \(ms\) │ +95 % \(ms\) │ measured │/);
  });
});
