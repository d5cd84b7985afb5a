import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type EstimateSettings,
  computeStatistic,
  type TracedSum,
  TraceEstimator,
} from '../../../../plugins/dlbricks/traces/estimate-from-traces.js';
import type { Reuse } from '../../../../plugins/dlbricks/traces/find-occurrences.js';
import { openTraceBook } from '../../../../plugins/dlbricks/traces/trace-book.js';
import type { TracedModel } from '../../../../src/plugin-api.js';
import { layer, traced } from './table.js';

const SETTINGS: EstimateSettings = { reuse: 'all', statistic: 'median', fill: false, calibrate: false };

function sums(models: readonly TracedModel[], settings: Partial<EstimateSettings> = {}): readonly TracedSum[] {
  const book = openTraceBook(models, undefined);
  const estimator = new TraceEstimator(book, { ...SETTINGS, ...settings });
  return book.targets.map((target) => estimator.sum(target));
}

const A = traced('a', [
  ['Conv', 8, 4],
  ['Relu', 8, 1],
  ['Relu', 8, 1.2],
]);
const B = traced('b', [
  ['Conv', 8, 6],
  ['Relu', 8, 2],
  ['Tanh', 8, 3],
]);

describe('composing from traces', () => {
  const cases: readonly (readonly [Reuse, number | undefined, number, number | undefined, number])[] = [
    // For a: Conv takes 4 and 6, Relu takes 1, 1.2 and 2. For b: the same, and Tanh.
    ['own', 6.2, 1, 11, 1],
    ['all', 5 + 1.2 + 1.2, 1, 5 + 1.2 + 3, 1],
    ['others', 6 + 2 + 2, 1, 4 + 1.1, 2 / 3],
  ];
  for (const [reuse, ofA, coverageOfA, ofB, coverageOfB] of cases) {
    test(`occurrences: ${reuse}`, () => {
      const [a, b] = sums([A, B], { reuse });
      assert.equal(a?.ms, ofA);
      assert.equal(a?.coverage, coverageOfA);
      assert.equal(b?.ms?.toFixed(9), ofB?.toFixed(9));
      assert.equal(b?.coverage, coverageOfB);
    });
  }

  test('an unmeasured layer is missing, and never counted as zero', () => {
    const [, b] = sums([A, B], { reuse: 'others' });
    const missing = b?.parts.filter(({ ms }) => ms === undefined);
    assert.deepEqual(
      missing?.map(({ sequence }) => sequence.layers[0]?.operator),
      ['Tanh'],
    );
  });

  test('runs of one layer give a trimmed mean, which ignores a slow first run', () => {
    const [sum] = sums([traced('a', [['Conv', 8, 100, 4, 4, 4, 4]])]);
    assert.equal(sum?.ms, 4);
  });

  test('the longest path is known if layers name their predecessors', () => {
    const layers = [
      layer(0, ['Conv', 8, 4]),
      { ...layer(1, ['Relu', 8, 1]), after: [0] },
      { ...layer(2, ['Tanh', 8, 3]), after: [0] },
    ];
    const [sum] = sums([traced('a', [], { layers })]);
    assert.equal(sum?.ms, 8);
    assert.equal(sum.parallelMs, 7);
    assert.equal(sums([A])[0]?.parallelMs, undefined);
  });

  test('statistics over occurrences', () => {
    const values = [5, 1, 2, 9];
    assert.deepEqual(
      (['median', 'mean', 'trimmed-mean', 'min', 'max', 'last'] as const).map((statistic) =>
        computeStatistic(values, statistic),
      ),
      [3.5, 4.25, 4.25, 1, 9, 9],
    );
  });
});

describe('sequences of several layers', () => {
  const described = ([0, 1, 2] as const).map((index) => layer(index, ['Relu', 8 + index]));
  const sequence = { index: '0', last: 1, granularity: 2, name: '', operator: '', samplesMs: [5], runs: 1 };

  test('are timed as one, and a layer outside of them is missing', () => {
    const [sum] = sums([traced('a', [], { layers: [...described, sequence] })]);
    assert.equal(sum?.ms, 5);
    assert.equal(sum.parts.length, 2);
    assert.equal(sum.coverage, 0.5);
    assert.equal(sum.target.layers, 3);
  });

  test('the same one in another model is found', () => {
    const other = traced('b', [], { layers: described });
    const [, b] = sums(
      [
        traced('a', [], { layers: [...described, sequence] }),
        { ...other, layers: [...described, { ...sequence, samplesMs: [7] }] },
      ],
      {
        reuse: 'others',
      },
    );
    assert.equal(b?.parts[0]?.ms, 5);
  });

  test('that overlap are not used for their own model, but for others', () => {
    const overlapping = { ...sequence, index: '1', last: 2, samplesMs: [6] };
    const book = openTraceBook([traced('a', [], { layers: [...described, sequence, overlapping] })], undefined);
    assert.deepEqual(book.targets, []);
    assert.match(book.refused.get('a') ?? '', /layer 1\.\.2 was measured more than once in different ways/);
    assert.deepEqual(
      book.occurrences.map(({ ms }) => ms),
      [5, 6],
    );
  });
});

describe('the overhead of tracing', () => {
  const slow = { ...A, tracedWholeMs: [10] };
  test('is removed from layers if the latency of the whole model is known with and without it', () => {
    const [sum] = sums([{ ...slow, wholeMs: [8] }]);
    assert.equal(sum?.ms?.toFixed(9), (6.2 * 0.8).toFixed(9));
  });
  test('is not removed if one of the two is unknown, or if tracing was not slower', () => {
    assert.equal(sums([slow])[0]?.ms?.toFixed(9), '6.200000000');
    assert.equal(sums([{ ...slow, wholeMs: [11] }])[0]?.ms?.toFixed(9), '6.200000000');
  });
});
