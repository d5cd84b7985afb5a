import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runs } from '../../../plugins/latency/runs.js';
import { runAnalysis } from '../../../src/evaluation/run/run-analysis.js';
import { openEmbeddedStore } from '../../../src/store/embedded/open.js';
import { openMemoryStore } from '../../../src/store/memory/open.js';
import { keepWholeModel } from '../../../src/platform-documents/keep-whole-model.js';
import type { ResultStore } from '../../../src/store/result-store.js';
import { PROTOCOL, sampleMeasurement, sampleSystem, signatureOf, SYSTEM } from '../../store/sample-measurement.js';
import { temporaryFolder } from '../../store/temporary-folder.js';

const { signal } = new AbortController();

/** One model on two occasions, and a brick. */
async function fill(store: ResultStore): Promise<void> {
  const occasions = [
    [4, 1],
    [3, 2],
  ];
  for (const [index, runMs] of occasions.entries()) {
    const occasion = index + 1;
    const measurement = sampleMeasurement(1, { occasion, outcome: { kind: 'samples', runMs, warmupMs: [] } });
    await store.putMeasurement(measurement);
    await keepWholeModel(store, { name: 'four', batchSize: 8, host: 'bench-1', measurement });
  }
  await store.putMeasurement(sampleMeasurement(2));
}

describe("latency's analysis of runs", () => {
  it('has one row per model, graph, settings and system, with the runs of all occasions, in any store', async (t) => {
    const embedded = await openEmbeddedStore(await temporaryFolder(t), {});
    t.after(() => embedded.close());
    for (const store of [await openMemoryStore(), embedded]) {
      await fill(store);
      const { rows, notes } = await runAnalysis(runs, { percentiles: [50, 75, 99] }, { store, signal });
      const which = { model: 'four', signature: signatureOf(1).slice(0, 8), dimensions: null, settings: '' };
      const where = { threads: 1, batch: 8, processor: 'Test CPU @ 3.00GHz', framework: 'onnxruntime 1.30.0' };
      assert.deepEqual(rows, [{ ...which, ...where, runs: 4, p50_ms: 2, p75_ms: 3, p99_ms: null }]);
      assert.deepEqual(notes, ['p99 needs 100 runs; rows with fewer have none.']);
    }
  });

  it('tells apart graphs, dimensions, protocols and systems of one name', async () => {
    const store = await openMemoryStore();
    const outcome = { kind: 'samples' as const, runMs: [1, 2], warmupMs: [] };
    const plain = sampleSystem({ runOptions: { ...SYSTEM.runOptions, optimizationLevel: 'disabled' } });
    const variants = [
      { index: 1, dimensions: 'seq=16', changes: {} },
      { index: 2, dimensions: 'seq=512', changes: {} },
      { index: 2, dimensions: 'seq=512', changes: { protocol: { ...PROTOCOL, runs: 10 } } },
      { index: 2, dimensions: 'seq=512', changes: { system: plain } },
    ];
    for (const { index, dimensions, changes } of variants) {
      const measurement = sampleMeasurement(index, { outcome, ...changes });
      await store.putMeasurement(measurement);
      await keepWholeModel(store, { name: 'block', batchSize: 1, dimensions, host: 'bench-1', measurement });
    }
    const { rows } = await runAnalysis(runs, {}, { store, signal });
    const named = rows.map((row) => [row['signature'], row['dimensions'], row['settings'], row['runs']].join('; '));
    const [first, second] = [1, 2].map((index) => signatureOf(index).slice(0, 8));
    const wanted = [
      `${first}; seq=16; 50 runs, optimizer all; 2`,
      `${second}; seq=512; 10 runs, optimizer all; 2`,
      `${second}; seq=512; 50 runs, optimizer all; 2`,
      `${second}; seq=512; 50 runs, optimizer off; 2`,
    ];
    assert.deepEqual(named.sort(), wanted.sort());
  });

  it('says what to do if there are no models', async () => {
    const { rows, notes } = await runAnalysis(runs, {}, { store: await openMemoryStore(), signal });
    assert.deepEqual(rows, []);
    assert.match(notes.join(), /has no whole models/);
  });
});
