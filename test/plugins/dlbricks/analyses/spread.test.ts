import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { spread } from '../../../../plugins/dlbricks/analyses/spread.js';
import { runAnalysis } from '../../../../src/evaluation/run/run-analysis.js';
import { openMemoryStore } from '../../../../src/store/memory/open.js';
import { PROTOCOL, sampleMeasurement, sampleSystem } from '../../../store/sample-measurement.js';

const { signal } = new AbortController();

function on(occasion: number, benchmark: number, ms: number, system = sampleSystem()) {
  const protocol = { ...PROTOCOL, occasion };
  return sampleMeasurement(benchmark, { system, protocol, outcome: { kind: 'samples', runMs: [ms], warmupMs: [] } });
}

describe("dlbricks' analysis of spread", () => {
  it('pools the deviations of what was measured more than once, by system', async () => {
    const store = await openMemoryStore();
    const other = sampleSystem({ processor: 'Other CPU' });
    // Relative deviations 0.1 and -0.1 in both: the pooled variance is 4 * 0.01 / 2.
    const measurements = [on(1, 1, 9), on(2, 1, 11), on(1, 2, 90), on(2, 2, 110), on(1, 3, 5), on(1, 1, 7, other)];
    for (const measurement of measurements) await store.putMeasurement(measurement);
    const { rows } = await runAnalysis(spread, {}, { store, signal });
    const found = new Map(rows.map((row) => [row['processor'], row]));
    const { benchmarks, repeated, spread_percent: percent } = found.get('Test CPU @ 3.00GHz') ?? {};
    assert.deepEqual([benchmarks, repeated], [3, 2]);
    assert.ok(Math.abs(Number(percent) - 100 * Math.sqrt(0.02)) < 1e-9, String(percent));
    assert.equal(found.get('Other CPU')?.['spread_percent'], null);
  });
});
