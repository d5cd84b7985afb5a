import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { failureText } from '../../../../plugins/dlbricks/estimate/brick-latency.js';
import fc from '../../../support/property.js';
import { compose } from '../../../../plugins/dlbricks/estimate/compose.js';
import type { ModelResult } from '../../../../plugins/dlbricks/report/evaluation-result.js';
import { reportResult } from '../../../../plugins/dlbricks/report/show-report.js';
import { json } from '../../../../src/base/exporters/index.js';
import { reportSchema } from '../../../../plugins/dlbricks/report/report-schema.js';
import { summaryLines } from '../../../../plugins/dlbricks/report/summary-lines.js';
import { buildReport } from '../../../../plugins/dlbricks/report/report.js';
import type { Measurement, Outcome } from '../../../../src/measurement/measurement.js';
import { PROTOCOL, sampleMeasurement, signatureOf, SYSTEM } from '../../../store/sample-measurement.js';
import { endToEndOf, estimateOf, FAILURE, MISSING, resultOf, SETTINGS } from './sample-result.js';
import { near } from '../../../support/near.js';

/** 9 % too slow, and 4 % too fast; each was measured again. */
const slow: ModelResult = {
  estimate: estimateOf('slow', 10.9),
  endToEnd: endToEndOf(0, 9.8, 5000, 10.2),
  graph: 'a graph',
};
const fast: ModelResult = { estimate: estimateOf('fast', 19.2), endToEnd: endToEndOf(1, 20.2, 2000, 19.8) };
const partial: ModelResult = {
  estimate: estimateOf('partial', 5, { coverage: 0.25, missing: [MISSING] }),
  endToEnd: endToEndOf(2, 8, 3000, undefined),
};

describe('a model in the report', () => {
  test('has its figures as they were composed and measured', () => {
    const [model] = buildReport(resultOf([slow]), SETTINGS).models;
    assert.ok(model !== undefined);
    near(model.normalized_latency, 1.09);
    assert.deepEqual(model, {
      name: 'slow',
      cut: 'layer',
      layers: 8,
      kernels: null,
      kernel_differences: null,
      check: null,
      assumed_inputs: [],
      dimensions: [],
      throughput_per_second: 1000 / 10.9,
      tokens_per_second: null,
      extended: null,
      not_extended: null,
      made_up_values: null,
      values_of_run: null,
      unique_bricks: 2,
      predicted_percent: 0,
      coverage: 1,
      estimate_ms: 10.9,
      estimate_low_ms: 9.9,
      estimate_high_ms: 11.9,
      parallel_ms: 5.45,
      parallelism: 2,
      longest_path: [0, 2],
      critical_path: [
        { sequence: 0, kernels: ['k0'], operators: ['Conv'], latency_ms: 1, is_predicted: false },
        { sequence: 2, kernels: ['k2'], operators: ['Gemm'], latency_ms: 3, is_predicted: false },
      ],
      end_to_end_ms: 10,
      graph_signature: 'a graph',
      preparing_seconds: 0.25,
      end_to_end_seconds: 5,
      end_to_end_first_ms: 9.8,
      end_to_end_repeat_ms: 10.2,
      normalized_latency: model.normalized_latency,
      interval_hit: true,
      measuring_error_percent: null,
      least_error_percent: null,
      limited_by: null,
      bricks: [],
      repeated_blocks: [],
      missing: [],
    });
  });

  test('with a partial estimate has no normalized latency, and lists the missing measurements', () => {
    const [model] = buildReport(resultOf([partial]), SETTINGS).models;
    assert.deepEqual([model?.coverage, model?.estimate_ms, model?.normalized_latency], [0.25, 5, null]);
    assert.deepEqual(model?.missing, [
      {
        benchmark: 'brick',
        signature: MISSING.signature,
        operators: ['Conv', 'Relu'],
        shapes: MISSING.shapes,
        sequences: 3,
        reason: 'crashed: gone',
      },
      {
        benchmark: 'end_to_end',
        shapes: [],
        signature: signatureOf(102),
        operators: [],
        sequences: 0,
        reason: 'interrupted before it was measured',
      },
    ]);
  });

  test('that failed as a whole has no end-to-end latency, and says why', () => {
    const failed: ModelResult = { estimate: estimateOf('failed', 5), endToEnd: endToEndOf(3, FAILURE, 60_000, 5) };
    const [model] = buildReport(resultOf([failed]), SETTINGS).models;
    assert.deepEqual([model?.end_to_end_ms, model?.normalized_latency], [null, null]);
    assert.deepEqual(
      model?.missing.map(({ reason }) => reason),
      [failureText(FAILURE)],
    );
  });

  test('without any measurement has no estimate', () => {
    const estimate = estimateOf('nothing', 0, { coverage: 0, sequential: undefined, parallel: undefined });
    const [model] = buildReport(resultOf([{ estimate, endToEnd: undefined }]), SETTINGS).models;
    assert.deepEqual(
      [model?.estimate_ms, model?.estimate_low_ms, model?.estimate_high_ms, model?.parallel_ms, model?.parallelism],
      [null, null, null, null, null],
    );
    assert.equal(model?.end_to_end_ms, null);
  });

  test('whose longest path takes no time has no parallelism', () => {
    const [model] = buildReport(resultOf([{ estimate: estimateOf('none', 0), endToEnd: undefined }]), SETTINGS).models;
    assert.deepEqual([model?.estimate_ms, model?.parallel_ms, model?.parallelism], [0, 0, null]);
  });

  test('that was measured once has no interval', () => {
    const estimate = estimateOf('once', 5, { sequential: { ms: 5, lowMs: undefined, highMs: undefined } });
    const [model] = buildReport(resultOf([{ estimate, endToEnd: undefined }]), SETTINGS).models;
    assert.deepEqual([model?.estimate_ms, model?.estimate_low_ms, model?.estimate_high_ms], [5, null, null]);
  });
});

describe('the summary', () => {
  const { summary } = buildReport(resultOf([slow, fast]), SETTINGS);

  test('counts models, layers and bricks', () => {
    assert.deepEqual([summary.models, summary.layers], [2, 16]);
    assert.deepEqual([summary.unique, summary.sequences, summary.unique_fraction], [4, 10, 0.4]);
  });

  test('has the errors against end-to-end', () => {
    // 1.09 and 0.96: 9 % and 4 %.
    near(summary.geomean_normalized_latency, Math.sqrt(1.09 * 0.96));
    near(summary.mape_percent, 6.5);
    near(summary.worst_percent, 9);
    assert.deepEqual([summary.within_5_percent, summary.within_10_percent], [1, 2]);
  });

  test('has the difference between the two end-to-end measurements', () => {
    near(summary.repeatability_percent, (100 * (0.4 / 9.8 + 0.4 / 20.2)) / 2);
  });

  test('leaves models without a normalized latency out of the errors', () => {
    const { summary: mixed } = buildReport(resultOf([slow, partial]), SETTINGS);
    near(mixed.geomean_normalized_latency, 1.09);
    near(mixed.mape_percent, 9);
    near(mixed.repeatability_percent, 40 / 9.8);
    assert.deepEqual([mixed.models, mixed.within_10_percent], [2, 1]);
  });

  test('has no errors and no ratios if whole models were not measured', () => {
    const { summary: bricksOnly } = buildReport(resultOf([{ ...slow, endToEnd: undefined }]), SETTINGS);
    assert.deepEqual(
      {
        ...bricksOnly,
        models: 0,
        layers: 0,
        unique: 0,
        unique_fraction: 0,
        costs: null,
      },
      {
        models: 0,
        layers: 0,
        unique: 0,
        sequences: 10,
        bricks_ms: 0,
        unique_fraction: 0,
        geomean_normalized_latency: null,
        mape_percent: null,
        worst_percent: null,
        within_5_percent: 0,
        within_10_percent: 0,
        interval_hit_percent: null,
        intervals: [],
        cross_checked_intervals: [],
        spread_percent: null,
        common_spread_percent: null,
        whole_spread_percent: null,
        no_interval_reason: null,
        machines: null,
        machine_spread_percent: null,
        costs: null,
        ratios: { paper: null, measured: null, as_run: null },
        repeatability_percent: null,
      },
    );
  });

  test('has the spread between the machines that shared the bricks', () => {
    const result = resultOf([slow], { machines: { machines: 3, benchmarks: 16, relative: 0.012 } });
    const report = buildReport(result, SETTINGS);
    assert.equal(report.summary.machines, 3);
    near(report.summary.machine_spread_percent, 1.2);
    const line = '3 machines of this kind differ by 1.2 % (standard deviation)';
    assert.ok(summaryLines([report], { wide: false }).includes(line));
    const kernels = summaryLines([buildReport(result, { ...SETTINGS, cut: 'kernel' })], { wide: false });
    assert.ok(kernels.includes(`${line}, which the intervals include`));
  });

  test('has no figures without models', () => {
    const nothing = resultOf([], { bricks: [], sequences: 0, uniqueBricks: 0, costs: undefined });
    const { summary: empty } = buildReport(nothing, SETTINGS);
    assert.deepEqual([empty.unique_fraction, empty.costs, empty.mape_percent], [null, null, null]);
  });
});

test('system and settings are those of the evaluation', () => {
  const { system, settings } = buildReport(resultOf([slow]), SETTINGS);
  assert.deepEqual(
    [system.fingerprint, system.processor, system.threads, system.optimization_level],
    [SYSTEM.fingerprint, SYSTEM.processor, 1, 'all'],
  );
  assert.deepEqual(settings, {
    cut: 'layer',
    granularity: 2,
    keep_dynamic: false,
    batch: 1,
    warmup_runs: PROTOCOL.warmupRuns,
    runs: PROTOCOL.runs,
    min_runs: PROTOCOL.minRuns,
    time_budget_ms: PROTOCOL.timeBudgetMs,
    target_error_percent: null,
    statistic: 'trimmed mean (0.2)',
    confidence: 0.95,
  });
});

test('for any measurements, every figure in the JSON is a number or null', () => {
  // No clock gives less than a picosecond; ratios of denormal numbers overflow.
  const latency = fc.oneof(fc.constant(0), fc.double({ min: 1e-9, max: 1e6, noNaN: true }));
  const samples = fc
    .array(latency, { minLength: 1 })
    .map((runMs): Outcome => ({ kind: 'samples', runMs, warmupMs: [] }));
  const outcome = fc.oneof({ weight: 3, arbitrary: samples }, { weight: 1, arbitrary: fc.constant(FAILURE) });
  const taken: fc.Arbitrary<Measurement | undefined> = fc.option(
    fc.tuple(outcome, latency).map(([of, costMs]) => sampleMeasurement(0, { outcome: of, costMs })),
    { nil: undefined, freq: 4 },
  );
  const model = fc.record({
    bricks: fc.array(taken, { maxLength: 3 }),
    first: taken,
    repeat: taken,
    hasWhole: fc.boolean(),
  });
  const phase = fc.record({ nowMs: latency, beforeMs: latency });
  const costs = fc.option(
    fc.record({
      readingMs: latency,
      preparingMs: latency,
      preparingOfModelsMs: fc.array(latency, { maxLength: 3 }),
      bricksFirst: phase,
      bricksAgain: phase,
      modelsFirst: phase,
      modelsAgain: phase,
    }),
    { nil: undefined },
  );
  fc.assert(
    fc.property(fc.array(model, { maxLength: 3 }), costs, (models, spent) => {
      const results = models.map(({ bricks, first, repeat, hasWhole }, index): ModelResult => {
        const signatures = bricks.map((_, brick) => signatureOf(brick));
        const recipe = {
          name: `model ${index}`,
          layers: bricks.length,
          bricks: signatures.map((signature) => ({ signature, operators: [] })),
          sequences: [...signatures.keys()],
          edges: [],
        };
        const known = bricks.flatMap((measurement, brick): [string, Measurement[]][] =>
          measurement === undefined ? [] : [[signatures[brick] ?? '', [measurement]]],
        );
        const endToEnd = { signature: signatureOf(50 + index), first, repeat };
        return {
          estimate: compose({ recipe, context: undefined }, new Map(known)),
          endToEnd: hasWhole ? endToEnd : undefined,
        };
      });
      const bricks = models.flatMap((each) => each.bricks.filter((brick) => brick !== undefined));
      const report = buildReport(resultOf(results, { bricks, costs: spent }), SETTINGS);

      // JSON writes NaN and Infinity as null: no figure may become null in this way.
      const written: unknown = JSON.parse(json(reportResult([report])));
      assert.deepEqual(written, report);
      assert.deepEqual(reportSchema.parse(written), report);
    }),
  );
});
