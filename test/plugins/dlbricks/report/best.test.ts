import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bestLines } from '../../../../plugins/dlbricks/report/best.js';
import { buildReport } from '../../../../plugins/dlbricks/report/report.js';
import type { Report } from '../../../../plugins/dlbricks/report/report-schema.js';
import { identifySystem, buildRunOptions } from '../../../../src/measurement/system.js';
import { DEFAULT_RUNTIME } from '../../../../src/measurement/runtime-settings.js';
import { SYSTEM } from '../../../store/sample-measurement.js';
import { estimateOf, MISSING, resultOf, SETTINGS } from './sample-result.js';

/** A model with an interval of 1 ms to each side. */
function reportAt(batch: number, ms: number, changes: Parameters<typeof estimateOf>[2] = {}): Report {
  const model = { estimate: estimateOf('m', ms, changes), endToEnd: undefined };
  return buildReport(resultOf([model]), { ...SETTINGS, batch });
}

describe('the best of several combinations', () => {
  const reports = [reportAt(1, 10), reportAt(4, 20), reportAt(8, 60)];

  test('has the highest throughput by default where batches differ', () => {
    assert.deepEqual(bestLines(reports, undefined), [
      'm: best throughput: batch 4, 1 thread: 20.00 ms ± 5.0 %, 200.0 inputs/s',
    ]);
    assert.deepEqual(bestLines([reportAt(1, 10)], undefined), []);
  });

  test('has the lowest latency where that is asked for', () => {
    assert.match(bestLines(reports, { best: 'latency' }).join(), /^m: best latency: batch 1, 1 thread: 10.00 ms/);
  });

  test('is within the latency that is asked for', () => {
    const within = (withinMs: number): string => bestLines(reports, { best: 'throughput', withinMs }).join();
    assert.match(within(20), /^m: best throughput within 20 ms: batch 4/);
    assert.match(within(19), /^m: best throughput within 19 ms: batch 1/);
    assert.match(within(5), /^m: no combination within 5 ms; fastest: batch 1, 1 thread: 10.00 ms/);
  });

  test('is named with those that its interval does not exclude', () => {
    const close = bestLines([reportAt(1, 10), reportAt(2, 19)], { best: 'throughput' }).join();
    assert.match(close, /best throughput: batch 2.*; intervals overlap with: batch 1, 1 thread$/);
  });

  test('is never an estimate of a part of a model', () => {
    const part = reportAt(8, 1, { coverage: 0.5, missing: [MISSING] });
    assert.match(bestLines([reportAt(1, 10), part], { best: 'throughput' }).join(), /best throughput: batch 1,/);
    assert.match(bestLines([part], { best: 'latency' }).join(), /^m: no combination has a complete estimate$/);
  });
});

describe('a report with settings of the runtime', () => {
  const parallel = { ...DEFAULT_RUNTIME, execution_mode: 'parallel', inter_op_threads: 2 } as const;

  test('has no interval where kernels run at the same time, and says why', () => {
    const system = identifySystem(SYSTEM, buildRunOptions(1, {}, parallel));
    const model = { estimate: estimateOf('m', 10), endToEnd: undefined };
    const { models, warnings, system: stated } = buildReport({ ...resultOf([model]), system }, SETTINGS);
    const [first] = models;
    assert.deepEqual([first?.estimate_ms, first?.estimate_low_ms, first?.estimate_high_ms], [10, null, null]);
    assert.match(warnings.find(({ cause }) => cause === 'settings')?.message ?? '', /at the same time.*no interval/);
    assert.deepEqual([stated.execution_mode, stated.inter_op_threads, stated.session], ['parallel', 2, []]);
  });

  test('names the models that settings of the optimizer do not change', () => {
    const system = identifySystem(SYSTEM, buildRunOptions(1, {}, { ...DEFAULT_RUNTIME, optimization_level: 'layout' }));
    const model = { estimate: estimateOf('m', 10), endToEnd: undefined };
    const { warnings } = buildReport({ ...resultOf([model]), system, unchanged: ['m'] }, SETTINGS);
    assert.deepEqual(
      warnings.filter(({ cause }) => cause === 'settings'),
      [{ cause: 'settings', message: 'optimizer layout: the optimizer makes the same kernels as by default of m' }],
    );
  });
});
