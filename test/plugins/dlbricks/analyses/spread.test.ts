import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { spread } from '../../../../plugins/dlbricks/analyses/spread.js';
import { runAnalysis } from '../../../../src/evaluation/run/run-analysis.js';
import { openMemoryStore } from '../../../../src/store/memory/open.js';
import { sampleMeasurement, sampleSystem } from '../../../store/sample-measurement.js';
import { measuredTogetherOn } from '../support/measured-bricks.js';

const { signal } = new AbortController();

function near(actual: unknown, expected: number): void {
  assert.ok(Math.abs(Number(actual) - expected) < 1e-9, `${String(actual)} is not ${expected}`);
}

function on(occasion: number, benchmark: number, ms: number, system = sampleSystem()) {
  return sampleMeasurement(benchmark, { system, occasion, outcome: { kind: 'samples', runMs: [ms], warmupMs: [] } });
}

describe("dlbricks' analysis of spread", () => {
  it('pools the deviations of benchmarks that were measured more than once, by system', async () => {
    const store = await openMemoryStore();
    const other = sampleSystem({ processor: 'Other CPU' });
    // Relative deviations 0.1 and -0.1 in both: the pooled variance is 4 * 0.01 / 2.
    const measurements = [on(1, 1, 9), on(2, 1, 11), on(1, 2, 90), on(2, 2, 110), on(1, 3, 5), on(1, 1, 7, other)];
    for (const measurement of measurements) await store.putMeasurement(measurement);
    const { rows } = await runAnalysis(spread, {}, { store, signal });
    const found = new Map(rows.map((row) => [row['processor'], row]));
    const { benchmarks, repeated, spread_percent: percent } = found.get('Test CPU @ 3.00GHz') ?? {};
    assert.deepEqual([benchmarks, repeated], [3, 2]);
    near(percent, 100 * Math.sqrt(0.02));
    assert.equal(found.get('Other CPU')?.['spread_percent'], null);
  });

  it('names the setting in which systems differ', async () => {
    const store = await openMemoryStore();
    const { runOptions } = sampleSystem();
    const plain = sampleSystem({ runOptions: { ...runOptions, optimizationLevel: 'disabled' } });
    const fewer = sampleSystem({ runOptions, processorFeatures: ['avx2'] });
    for (const system of [sampleSystem(), plain, fewer]) await store.putMeasurement(on(1, 1, 9, system));
    const { rows } = await runAnalysis(spread, {}, { store, signal });
    const named = rows.map((row) => [row['system'], row['settings']].join(' '));
    const wanted = [
      `${sampleSystem().fingerprint.slice(0, 8)} optimizer all, with avx512f`,
      `${plain.fingerprint.slice(0, 8)} optimizer off, with avx512f`,
      `${fewer.fingerprint.slice(0, 8)} optimizer all, without avx512f`,
    ];
    assert.deepEqual(named.sort(), wanted.sort());
  });

  it('separates measurements in different contexts, and subtracts the measuring overhead', async () => {
    const store = await openMemoryStore();
    const small = { footprintBytes: 2 ** 20 };
    const large = { footprintBytes: 2 ** 22 };
    const measurements = [
      measuredTogetherOn(1, 1, 9, small),
      measuredTogetherOn(2, 1, 11, small),
      measuredTogetherOn(1, 1, 90, large),
      measuredTogetherOn(2, 1, 110, large),
      on(1, 1, 500),
    ];
    for (const measurement of measurements) await store.putMeasurement(measurement);
    const [row] = (await runAnalysis(spread, {}, { store, signal })).rows;
    assert.deepEqual([row?.['benchmarks'], row?.['repeated']], [3, 2]);
    near(row?.['spread_percent'], 100 * Math.sqrt(0.02));
  });
});
