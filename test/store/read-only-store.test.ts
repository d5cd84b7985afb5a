import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { collect } from '../../src/base/collect.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { readOnlyStore } from '../../src/store/read-only-store.js';
import { note, NOTES } from './collection-contract.js';
import { sampleMeasurement, SETUP_KEY, signatureOf, SYSTEM } from './sample-measurement.js';

const MEASUREMENT = sampleMeasurement(1);
const NOTE = note('a');

async function filled() {
  const store = await openMemoryStore();
  await store.putMeasurement(MEASUREMENT);
  await store.collection(NOTES).put(NOTE);
  let closed = 0;
  const readOnly = readOnlyStore(store, '/data/results', () => (closed += 1));
  return { store, readOnly, closedTimes: () => closed };
}

describe('a store that is only read', () => {
  it('has everything that the store has', async () => {
    const { readOnly } = await filled();
    assert.equal(readOnly.isReadOnly, true);
    const found = await readOnly.findMeasurements([signatureOf(1)], SYSTEM.fingerprint, SETUP_KEY);
    assert.deepEqual(found.get(signatureOf(1)), MEASUREMENT);
    assert.deepEqual(await readOnly.listSystems(), [SYSTEM]);
    assert.deepEqual(await collect(readOnly.listMeasurements()), [MEASUREMENT]);
    assert.deepEqual(
      (await readOnly.listCollections()).map(({ name }) => name),
      [NOTES.name],
    );
    const notes = readOnly.collection(NOTES);
    assert.deepEqual(await notes.get({ shelf: NOTE.shelf, title: NOTE.title }), NOTE);
    assert.deepEqual(await collect(notes.find({})), [NOTE]);
  });

  it('refuses every change, names the store and says what to do', async () => {
    const { store, readOnly } = await filled();
    const notes = readOnly.collection(NOTES);
    const changes: readonly (() => Promise<unknown>)[] = [
      () => readOnly.putMeasurement(MEASUREMENT),
      () => readOnly.deleteMeasurements([]),
      () => notes.put(NOTE),
      () => notes.putMany([NOTE]),
      () => notes.insert(NOTE),
      () => notes.delete({}),
    ];
    const message = /\/data\/results cannot be written to .* choose another place with --store/;
    for (const change of changes) await assert.rejects(change(), { code: 'storage', message });
    assert.equal((await collect(store.collection(NOTES).find({}))).length, 1);
  });

  it('closes the store, and says so then', async () => {
    const { store, readOnly, closedTimes } = await filled();
    assert.equal(closedTimes(), 0);
    await readOnly.close();
    assert.equal(closedTimes(), 1);
    await assert.rejects(store.listSystems());
  });
});
