import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TraceEstimator } from '../../../../plugins/dlbricks/traces/estimate-from-traces.js';
import { openTraceBook } from '../../../../plugins/dlbricks/traces/trace-book.js';
import { computeInterval, learnFromWholeModels } from '../../../../plugins/dlbricks/traces/whole-models.js';
import type { TracedModel } from '../../../../src/plugin-api.js';
import { normalNumbers } from '../support/noise.js';
import { type Row, traced } from './table.js';

const LAYERS = Array.from({ length: 30 }, (_, i) => ({ size: 10 * (i + 1), ms: 1 + i / 10 }));

/**
 * Standard deviations of the logarithms of factors: of a process on all its layers, of each occurrence, of the whole
 * model.
 */
interface Noise {
  readonly process: number;
  readonly occurrence: number;
  readonly whole: number;
}

function models(count: number, noise: Noise, normal: () => number, withWhole: boolean): readonly TracedModel[] {
  return Array.from({ length: count }, (_, m) => {
    const slower = Math.exp(noise.process * normal());
    const rows = LAYERS.filter((_layer, i) => (i + m) % 3 > 0);
    const timed = rows.map(({ size, ms }): Row => ['Conv', size, ms * slower * Math.exp(noise.occurrence * normal())]);
    const whole =
      rows.reduce((sum, { ms }) => sum + ms, 0) * Math.exp(noise.process * normal()) * Math.exp(noise.whole * normal());
    return traced(`m${m}`, timed, { wholeMs: withWhole ? [whole] : [] });
  });
}

/** Share of the intervals that hold the whole model's time in a world with this noise. */
function shareHeld(noise: Noise, options: { readonly learns: boolean; readonly calibrate: boolean }): number {
  const normal = normalNumbers(7);
  let held = 0;
  let all = 0;
  for (let world = 0; world < 30; world++) {
    const book = openTraceBook(models(12, noise, normal, true), undefined);
    const estimator = new TraceEstimator(book, {
      reuse: 'others',
      statistic: 'median',
      fill: false,
      calibrate: options.calibrate,
    });
    const sums = book.targets.map((target) => estimator.sum(target));
    for (const sum of sums) {
      const learned = options.learns
        ? learnFromWholeModels(
            sums.filter((other) => other !== sum),
            options.calibrate,
          )
        : undefined;
      const interval = computeInterval(sum, learned, 'others');
      const { wholeMs = 0 } = sum.target;
      assert(interval?.lowMs !== undefined && interval.highMs !== undefined);
      all++;
      if (interval.lowMs <= wholeMs && wholeMs <= interval.highMs) held++;
    }
  }
  return held / all;
}

describe('intervals hold in worlds whose spread is known', () => {
  const cases = [
    ['occurrences differ', { process: 0, occurrence: 0.1, whole: 0 }, { learns: false, calibrate: false }],
    ['processes differ', { process: 0.05, occurrence: 0.02, whole: 0 }, { learns: false, calibrate: false }],
    [
      'processes differ, whole models are known',
      { process: 0.05, occurrence: 0.02, whole: 0 },
      { learns: true, calibrate: false },
    ],
    [
      'models are not quite their sums',
      { process: 0.02, occurrence: 0.05, whole: 0.08 },
      { learns: true, calibrate: false },
    ],
    ['the same, calibrated', { process: 0.02, occurrence: 0.05, whole: 0.08 }, { learns: true, calibrate: true }],
  ] as const;
  for (const [what, noise, options] of cases) {
    test(what, () => {
      const held = shareHeld(noise, options);
      // 360 intervals: 95 % less four standard deviations of a share. Wider intervals are allowed, since some parts are
      // estimated cautiously.
      assert(held >= 0.9, `${held}`);
    });
  }

  test('they are narrow enough to be useful', () => {
    assert(shareHeld({ process: 0.02, occurrence: 0.05, whole: 0.2 }, { learns: false, calibrate: false }) < 0.7);
  });
});

describe('special cases', () => {
  test('one process alone gives no interval', () => {
    const book = openTraceBook(
      [
        traced('a', [
          ['Conv', 8, 4, 4.1, 4.2],
          ['Conv', 8, 4, 4.1, 4.2],
        ]),
      ],
      undefined,
    );
    const estimator = new TraceEstimator(book, { reuse: 'all', statistic: 'median', fill: false, calibrate: false });
    const [target] = book.targets;
    assert(target !== undefined);
    assert.equal(computeInterval(estimator.sum(target), undefined, 'all')?.highMs, undefined);
  });

  test('calibration removes the error that other models have in common', () => {
    const book = openTraceBook(
      ['a', 'b', 'c', 'd'].map((name) =>
        traced(
          name,
          [
            ['Conv', 8, 4],
            ['Relu', 8, 1],
          ],
          { wholeMs: [6] },
        ),
      ),
      undefined,
    );
    const estimator = new TraceEstimator(book, { reuse: 'others', statistic: 'median', fill: false, calibrate: true });
    const [sum, ...others] = book.targets.map((target) => estimator.sum(target));
    assert(sum !== undefined);
    assert.equal(learnFromWholeModels(others, true)?.factor.toFixed(9), (6 / 5).toFixed(9));
    assert.equal(learnFromWholeModels(others.slice(0, 2), true), undefined);
  });
});
