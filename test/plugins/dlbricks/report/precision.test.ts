import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BrickShare } from '../../../../plugins/dlbricks/estimate/compose.js';
import type { VarianceComponents } from '../../../../plugins/dlbricks/estimate/variance-components.js';
import type { EstimateResult, ModelResult } from '../../../../plugins/dlbricks/report/evaluation-result.js';
import { type Report, reportSchema } from '../../../../plugins/dlbricks/report/report-schema.js';
import { buildReport } from '../../../../plugins/dlbricks/report/report.js';
import { toTable } from '../../../../plugins/dlbricks/report/table.js';
import { near } from '../../../support/near.js';
import { signatureOf } from '../../../store/sample-measurement.js';
import { endToEndOf, estimateOf, FAILURE, resultOf, SETTINGS } from './sample-result.js';

const PART: BrickShare = {
  signature: signatureOf(1),
  benchmark: signatureOf(2),
  operators: ['Conv', 'Relu'],
  count: 3,
  measured: { way: 'copies', copies: 8 },
  ms: 2.5,
  occasions: 2,
  processes: [],
  tried: 3,
  runs: 14,
  costMs: 900,
};

/** 1 % in common, and 0.75 % of each brick's own. */
const SPREAD: VarianceComponents = {
  processes: { relative: 0.01, degreesOfFreedom: 5 },
  ownShare: 0,
  own: { relative: 0.0075, degreesOfFreedom: 20 },
};

const UNKNOWN_SPREADS = { bricks: undefined, reason: 'measured once', wholes: new Map(), machines: undefined };

const UNKNOWN: BrickShare = {
  ...PART,
  signature: signatureOf(3),
  measured: { way: 'together' },
  ms: undefined,
  occasions: 0,
  runs: 0,
};

/** The interval of `ms` goes from 1 ms below to 1 ms above. */
function model(name: string, ms: number, endToEndMs: number, changes: Partial<ModelResult> = {}): ModelResult {
  const estimate = estimateOf(name, ms, { measuringError: 0.04, parts: [PART, UNKNOWN] });
  const endToEnd = endToEndOf(0, endToEndMs, 100, endToEndMs);
  return { estimate, endToEnd, limitedBy: 'target_error', kernels: 6, ...changes };
}

function reportWith(models: readonly ModelResult[], changes: Partial<EstimateResult> = {}): Report {
  const spreads = { bricks: SPREAD, reason: undefined, wholes: new Map([['a', [10, 10.2]]]), machines: undefined };
  const report = buildReport(resultOf(models, { spreads, ...changes }), {
    ...SETTINGS,
    cut: 'kernel',
    targetError: 0.05,
  });
  return reportSchema.parse(report);
}

const hit = model('hit', 10, 10.9);
const missed = model('missed', 10, 11.1, { limitedBy: 'time' });

/** Models without an interval, or without a measurement to compare the interval with. */
const unheld: Readonly<Record<string, ModelResult>> = {
  'was not asked for as a whole': { ...hit, endToEnd: undefined },
  'failed as a whole': { ...hit, endToEnd: endToEndOf(0, FAILURE, 100, 10) },
  'was interrupted before it ran as a whole': { ...hit, endToEnd: endToEndOf(0, undefined, 100, undefined) },
  'has no interval': {
    ...hit,
    estimate: estimateOf('m', 10, { sequential: { ms: 10, lowMs: undefined, highMs: undefined } }),
  },
  'has no estimate': { ...hit, estimate: estimateOf('m', 10, { sequential: undefined, coverage: 0 }) },
  'is known in part': { ...hit, estimate: estimateOf('m', 10, { coverage: 0.9 }) },
};

function only(result: ModelResult): Report['models'][number] {
  return reportWith([result]).models[0] ?? assert.fail();
}

describe('a model at the kernel cut in the report', () => {
  test('has its cut, its number of kernels, and its bricks', () => {
    const { cut, kernels, bricks } = only(hit);
    assert.deepEqual([cut, kernels], ['kernel', 6]);
    const common = { operators: ['Conv', 'Relu'], sequences: 3, on_longest_path: null, is_predicted: false };
    assert.deepEqual(bricks, [
      { signature: signatureOf(1), ...common, measured: 'copies', copies: 8, latency_ms: 2.5, occasions: 2, runs: 14 },
      {
        signature: signatureOf(3),
        ...common,
        measured: 'together',
        copies: null,
        latency_ms: null,
        occasions: 0,
        runs: 0,
      },
    ]);
  });

  test('has the measuring error of its bricks, and the limit of measuring', () => {
    const { measuring_error_percent: error, limited_by: limit } = only(hit);
    assert.deepEqual([error, limit], [4, 'target_error']);
    const unknown = { ...hit, estimate: estimateOf('unknown', 10), limitedBy: undefined };
    assert.deepEqual([only(unknown).measuring_error_percent, only(unknown).limited_by], [null, null]);
  });

  test('says whether its interval, ends included, holds the measured latency', () => {
    assert.equal(only(hit).interval_hit, true);
    assert.equal(only(missed).interval_hit, false);
    for (const [endToEndMs, expected] of [
      [9, true],
      [11, true],
      [8.99, false],
    ] as const) {
      assert.equal(only(model('ends', 10, endToEndMs)).interval_hit, expected);
    }
  });

  for (const [what, result] of Object.entries(unheld)) {
    test(`that ${what} does not count for interval hits`, () => {
      assert.equal(only(result).interval_hit, null);
      assert.equal(reportWith([result]).summary.interval_hit_percent, null);
    });
  }
});

describe('the summary of several', () => {
  test('has the share of known intervals that hold the measured latency', () => {
    const { summary } = reportWith([hit, hit, hit, missed, ...Object.values(unheld)]);
    assert.equal(summary.interval_hit_percent, 75);
  });

  test('has the spread between occasions, and the settings have the target error', () => {
    const { summary, settings } = reportWith([hit]);
    assert.deepEqual([summary.spread_percent, settings.target_error_percent], [1.25, 5]);
    assert.equal(summary.common_spread_percent, 1);
    // Of 10 and 10.2 ms, the deviations are 1 % of the mean to both sides.
    near(summary.whole_spread_percent, (100 * Math.SQRT2 * 0.1) / 10.1);
    assert.equal(reportWith([hit], { spreads: UNKNOWN_SPREADS }).summary.spread_percent, null);
  });
});

describe('the text about precision', () => {
  const linesOf = (report: Report): string => toTable([report], { color: false, wide: true });

  test('has the claim of the intervals, and the models outside of theirs, without a share of a few models', () => {
    const text = linesOf(reportWith([hit, hit, missed]));
    assert.match(text, /^intervals should contain 95 % of measured latencies; outside: missed$/m);
    assert.match(linesOf(reportWith([hit])), /^intervals should contain 95 % of measured latencies$/m);
    assert.doesNotMatch(text, /66\.7|2 of 3/);
  });

  test('has a warning of every wide interval above the table, and of no other', () => {
    const estimate = estimateOf('vague', 10, { sequential: { ms: 10, lowMs: 2, highMs: 18 } });
    const text = linesOf(reportWith([hit, { ...hit, estimate }]));
    assert.match(
      text,
      /^warning: wide intervals: vague \(± 80\.0 %\); .* measure again with 'dlbricks run --remeasure all' \(remeasure: all in manifests\) on a quieter machine\n┌/,
    );
    assert.doesNotMatch(linesOf(reportWith([hit])), /wide intervals/);
  });

  test('has the spread between processes, and the models that miss the target error, with the reason', () => {
    const worn = model('worn', 10, 10, { limitedBy: 'occasions' });
    const text = linesOf(reportWith([hit, missed, worn]));
    assert.match(
      text,
      /bricks: 1\.3 % standard deviation between processes, 1\.0 % of them common .*; whole models: 1\.4 %; .* ± 5\.0 %/,
    );
    assert.match(
      text,
      /^missed ± [\d.]+ % instead of ± 5 %: time limit reached \(raise --repeat-limit, repeat_limit in manifests\)$/m,
    );
    assert.match(
      text,
      /^worn( ± [\d.]+ %)? instead of ± 5 %: each brick was measured 5 times, the most \(use a quieter machine\)$/m,
    );
    assert.doesNotMatch(text, /hit .*instead of/);
  });

  test('omits both if they are unknown', () => {
    const text = linesOf(reportWith([{ ...hit, endToEnd: undefined }], { spreads: UNKNOWN_SPREADS }));
    assert.doesNotMatch(text, /intervals should|standard deviation|instead of/);
    assert.match(text, /^no intervals: measured once$/m);
  });

  test('does not claim such intervals at the layer cut', () => {
    const text = linesOf(buildReport(resultOf([hit]), SETTINGS));
    assert.match(text, /at the layer cut, intervals cover only the spread of runs in one process/);
  });
});
