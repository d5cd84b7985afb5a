import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { buildRunOptions } from '../../src/measurement/system.js';
import { KnownResults } from '../../src/measuring/known-results.js';
import { type Peaks, computePeaks, peakTasks, computeRidge, storedPeaks } from '../../src/measuring/machine-peaks.js';
import { createFakeAgent } from '../support/fake-agent.js';
import { InferenceSession } from '../../src/predictor/onnxruntime/library.js';
import { identifySystem } from '../../src/measurement/system.js';
import type { Outcome } from '../../src/measurement/measurement.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { sampleMeasurement } from '../store/sample-measurement.js';

const { description } = createFakeAgent({ latencyOf: () => 1 });
const RUN = buildRunOptions(2);
const CALL_MS = 0.5;

/** Measurements of a machine of 100 GFLOP/s and 20 GB/s; a product of 2048 is a little slower, and some runs are disturbed. */
function runMsOf(label: string): number {
  const [, side = '0'] = /of (\d+) x/.exec(label) ?? [];
  const operations = 2 * Number(side) ** 3;
  if (label.startsWith('MatMulInteger')) return CALL_MS + operations / 400e6;
  if (label.startsWith('MatMul')) return CALL_MS + operations / (side === '2048' ? 90e6 : 100e6);
  const [, megabytes] = /Add with ([\d.]+) MB/.exec(label) ?? [];
  return megabytes === undefined ? CALL_MS : CALL_MS + Number(megabytes) / 20;
}

function outcomeOf(label: string): Outcome {
  const ms = runMsOf(label);
  return { kind: 'samples', runMs: [ms, ms, 3 * ms, ms, 5 * ms, 2 * ms, ms, 9 * ms], warmupMs: [] };
}

const tasks = peakTasks(description, RUN);

function peaksIf(outcome: (label: string) => Outcome | undefined): Peaks {
  const results = new KnownResults();
  for (const { label, request } of tasks) {
    const found = outcome(label);
    if (found !== undefined)
      results.put(sampleMeasurement(0, { signature: request.benchmark.signature, outcome: found }));
  }
  return computePeaks(description, RUN, results);
}

const failure: Outcome = { kind: 'failure', reason: 'unsupported', message: 'no such kernel' };

describe('peaks of a machine', () => {
  test('are the best of their benchmarks, without the call and without disturbed runs', () => {
    const peaks = peaksIf(outcomeOf);
    const value = (kind: Parameters<Peaks['get']>[0]): number => peaks.get(kind)?.value ?? NaN;
    assert.ok(Math.abs(value('float32') - 100) < 1e-6);
    assert.ok(Math.abs(value('int8') - 400) < 1e-6);
    assert.match(peaks.get('float32')?.from ?? '', /MatMul of (512|1024)/);
    // The text of its label has three digits.
    assert.ok(Math.abs(value('memory') - 20) < 0.1);
    // 32 of them one after another.
    for (const kind of ['cache', 'core_cache'] as const) assert.ok(Math.abs(value(kind) / (32 * 20) - 1) < 0.005, kind);
    assert.equal(value('call'), CALL_MS);
    assert.ok(Math.abs((computeRidge(peaks) ?? NaN) - 5) < 0.05);
  });

  test('the arrays are four times the last-level cache, a quarter of it, and 192 KiB; at most 1.5 GiB', () => {
    for (const [mib, sizes] of [
      [64, [268, 16.8, 0.197]],
      // Where the operating system does not say: as for 32 MiB.
      [0, [134, 8.39, 0.197]],
      [1024, [1610, 268, 0.197]],
    ] as const) {
      const labels = peakTasks({ ...description, cacheBytes: mib * 2 ** 20 }, RUN).map(({ label }) => label);
      assert.deepEqual(
        labels.filter((label) => label.startsWith('Add')),
        sizes.map((megabytes) => `Add with ${megabytes} MB`),
      );
    }
  });

  test('are measured with models that the runtime accepts', async () => {
    for (const { request } of tasks) {
      const session = await InferenceSession.create(request.benchmark.model, { logSeverityLevel: 4 });
      assert.deepEqual(
        session.inputNames,
        request.benchmark.inputs.map(({ name }) => name),
      );
      await session.release();
    }
  });

  test('one that could not be measured is absent, and so is all work without a call', () => {
    const without = peaksIf((label) => (label.startsWith('MatMulInteger') ? failure : outcomeOf(label)));
    assert.equal(without.get('int8'), undefined);
    assert.ok(without.has('float32'));
    const callless = peaksIf((label) => (label === 'a run without work' ? undefined : outcomeOf(label)));
    assert.equal(callless.size, 0);
    assert.equal(computeRidge(callless), undefined);
  });

  test('of the same machine and threads are found, whatever the optimizer does; of others they are not', async () => {
    const store = await openMemoryStore();
    for (const { label, request } of tasks) {
      const { benchmark, runOptions, protocol } = request;
      const system = identifySystem(description, runOptions);
      await store.putMeasurement(
        sampleMeasurement(0, { signature: benchmark.signature, system, protocol, outcome: outcomeOf(label) }),
      );
    }
    assert.equal((await storedPeaks(store, description, { ...RUN, optimizationLevel: 'basic' })).size, 6);
    assert.equal((await storedPeaks(store, description, buildRunOptions(1))).size, 0);
  });
});
