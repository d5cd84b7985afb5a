import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runs } from '../../../plugins/latency/runs.js';
import { runAnalysis } from '../../../src/evaluation/run/run-analysis.js';
import { openEmbeddedStore } from '../../../src/store/embedded/open.js';
import { openMemoryStore } from '../../../src/store/memory/open.js';
import { keepWholeModel } from '../../../src/platform-documents/keep-whole-model.js';
import type { ResultStore } from '../../../src/store/result-store.js';
import { sampleMeasurement } from '../../store/sample-measurement.js';
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
  it('has one row per model and system, with the runs of all occasions, in any store', async (t) => {
    const embedded = await openEmbeddedStore(await temporaryFolder(t), {});
    t.after(() => embedded.close());
    for (const store of [await openMemoryStore(), embedded]) {
      await fill(store);
      const { rows } = await runAnalysis(runs, { percentiles: [50, 75, 99] }, { store, signal });
      const where = { processor: 'Test CPU @ 3.00GHz', framework: 'onnxruntime 1.30.0', threads: '1', batch: 8 };
      assert.deepEqual(rows, [{ model: 'four', ...where, runs: 4, p50_ms: 2, p75_ms: 3, p99_ms: 4 }]);
    }
  });

  it('says what to do if there are no models', async () => {
    const { rows, notes } = await runAnalysis(runs, {}, { store: await openMemoryStore(), signal });
    assert.deepEqual(rows, []);
    assert.match(notes.join(), /has no whole models/);
  });
});
