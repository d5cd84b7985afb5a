import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  currentEstimates,
  estimatedParts,
  estimatedSystems,
  estimateHistory,
  keepEstimates,
  type NewEstimate,
} from '../../src/measuring/estimates.js';
import { openEmbeddedStore } from '../../src/store/embedded/open.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { readOnlyStore } from '../../src/store/read-only-store.js';
import type { ResultStore } from '../../src/store/result-store.js';
import { putRecords, readRecords } from '../../src/store/transfer.js';
import { SYSTEM } from '../store/sample-measurement.js';
import { temporaryFolder } from '../store/temporary-folder.js';

const ESTIMATE: NewEstimate = {
  plugin: 'dlbricks',
  model: 'resnet18',
  version: '1.0',
  graph: 'a'.repeat(64),
  batch: 1,
  dimensions: '',
  settings: '',
  latencyMs: 10,
  lowMs: 9,
  highMs: 11,
  wholeMs: null,
  coverage: 1,
  reason: null,
};

/** Estimates of one moment are one estimate; these are of different ones. */
async function keepInTurn(store: ResultStore, ...estimates: NewEstimate[]): Promise<void> {
  for (const estimate of estimates) {
    await keepEstimates(store, SYSTEM, [estimate]);
    await sleep(2);
  }
}

const latencies = (estimates: readonly { readonly latencyMs: number | null }[]) =>
  estimates.map(({ latencyMs }) => latencyMs);

for (const [name, open] of [
  ['memory', () => Promise.resolve(openMemoryStore())],
  ['embedded', (folder: string) => openEmbeddedStore(folder, {})],
] as const) {
  describe(`kept estimates, ${name}`, () => {
    it('are the newest of each subject, with a history of changes', async (t) => {
      const store = await open(await temporaryFolder(t));
      t.after(() => store.close());
      const faster = { ...ESTIMATE, latencyMs: 8 };
      const batch = { ...ESTIMATE, batch: 2, latencyMs: 20 };
      await keepInTurn(store, ESTIMATE, ESTIMATE, faster, batch);
      const current = await currentEstimates(store);
      assert.deepEqual(latencies(current).sort(), [20, 8]);
      assert.deepEqual(await estimatedSystems(store), new Map([[SYSTEM.fingerprint, SYSTEM]]));
      const subject = current.find(({ latencyMs }) => latencyMs === 8)?.subject ?? assert.fail();
      assert.deepEqual(latencies(await estimateHistory(store, subject)), [10, 8]);
    });

    it('have the parts of the newest', async (t) => {
      const store = await open(await temporaryFolder(t));
      t.after(() => store.close());
      const brick = { signature: 'b', operators: ['Relu'], sequences: 2, latency_ms: 5, occasions: 3 };
      const parts = { spread_percent: 1, bricks: [brick] };
      // Estimates of earlier versions have none.
      await keepInTurn(store, ESTIMATE);
      const [only] = await currentEstimates(store);
      const subject = only?.subject ?? assert.fail();
      assert.equal(await estimatedParts(store, subject), undefined);
      await keepInTurn(store, { ...ESTIMATE, parts });
      assert.deepEqual(await estimatedParts(store, subject), { subject, ...parts });
      const newer = { spread_percent: null, bricks: [{ ...brick, latency_ms: 4 }] };
      await keepInTurn(store, { ...ESTIMATE, latencyMs: 8, parts: newer });
      assert.deepEqual(await estimatedParts(store, subject), { subject, ...newer });
      // One that covers less is not kept.
      await keepInTurn(store, { ...ESTIMATE, coverage: 0.5, parts });
      assert.deepEqual(await estimatedParts(store, subject), { subject, ...newer });
    });

    it('cover no less than before', async (t) => {
      const store = await open(await temporaryFolder(t));
      t.after(() => store.close());
      const part = { ...ESTIMATE, latencyMs: 3, coverage: 0.3, reason: 'not measured' };
      await keepInTurn(store, part, ESTIMATE, part);
      const [only] = await currentEstimates(store);
      assert.equal(only?.latencyMs, 10);
      assert.deepEqual(latencies(await estimateHistory(store, only?.subject ?? '')), [3, 10]);
    });

    it('stay the newest after an older export is imported', async (t) => {
      const store = await open(await temporaryFolder(t));
      const older = await openMemoryStore();
      t.after(() => store.close());
      await keepInTurn(older, ESTIMATE);
      await keepInTurn(store, { ...ESTIMATE, latencyMs: 7 });
      await putRecords(readRecords(older), store);
      assert.deepEqual(latencies(await currentEstimates(store)), [7]);
      // The next one tidies up.
      await keepInTurn(store, { ...ESTIMATE, latencyMs: 6 });
      const [only] = await currentEstimates(store);
      const history = await estimateHistory(store, only?.subject ?? '');
      assert.deepEqual(
        history.map(({ latencyMs, current }) => [latencyMs, current]),
        [
          [10, undefined],
          [7, undefined],
          [6, 'yes'],
        ],
      );
    });

    it('have at most 201 of a subject', async (t) => {
      const store = await open(await temporaryFolder(t));
      t.after(() => store.close());
      for (let index = 0; index < 205; index++) await keepInTurn(store, { ...ESTIMATE, latencyMs: index });
      const [only] = await currentEstimates(store);
      const history = latencies(await estimateHistory(store, only?.subject ?? ''));
      assert.equal(history.length, 201);
      assert.equal(history.at(-1), 204);
    });
  });
}

describe('kept estimates', () => {
  it('of a name of any length and any characters are kept', async () => {
    const store = await openMemoryStore();
    const name = '\u202e</script>'.repeat(1000);
    await keepEstimates(store, SYSTEM, [
      { ...ESTIMATE, model: name },
      { ...ESTIMATE, model: `${name}2` },
    ]);
    const current = await currentEstimates(store);
    assert.equal(current.length, 2);
    assert.ok(current.every(({ model }) => model.length === 1000));
  });

  it('are not kept by a store that refuses changes', async () => {
    const store = await openMemoryStore();
    await keepEstimates(
      readOnlyStore(store, 'here', () => {}),
      SYSTEM,
      [ESTIMATE],
    );
    assert.deepEqual(await currentEstimates(store), []);
  });
});
