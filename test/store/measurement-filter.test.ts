import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collect } from '../../src/base/collect.js';
import { filteredKeys, type MeasurementFilter } from '../../src/store/measurement-filter.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { sampleMeasurement, sampleSystem, SETUP_KEY, signatureOf, SYSTEM } from './sample-measurement.js';

const OTHER_SYSTEM = sampleSystem({ cores: 64 });

const CONDITIONS = { wallMs: 1000, cores: 2, othersMs: 500 };

/** What a store of four measurements has for a filter, by their numbers. */
async function meant(filter: MeasurementFilter): Promise<readonly number[]> {
  const store = await openMemoryStore();
  await store.putMeasurement(sampleMeasurement(0));
  await store.putMeasurement(sampleMeasurement(1, { system: OTHER_SYSTEM }));
  await store.putMeasurement(sampleMeasurement(2, { outcome: { kind: 'failure', reason: 'crashed', message: 'c' } }));
  await store.putMeasurement(sampleMeasurement(3, { conditions: CONDITIONS, measuredAt: '2026-01-02T03:04:05.677Z' }));
  const keys = await filteredKeys(store, filter);
  for (const { setup } of keys) assert.equal(setup, SETUP_KEY);
  const ofStore = (await collect(store.listMeasurements())).map(({ signature }) => signature);
  const ofFilter = keys.map(({ signature }) => signature);
  assert.deepEqual(
    ofFilter,
    ofStore.filter((signature) => ofFilter.includes(signature)),
    'in the order of the store',
  );
  return keys.map(({ signature }) => [0, 1, 2, 3].findIndex((index) => signatureOf(index) === signature)).sort();
}

test('a filter without conditions means every measurement', async () => {
  assert.deepEqual(await meant({}), [0, 1, 2, 3]);
  assert.deepEqual(await meant({ failed: false, disturbed: false }), [0, 1, 2, 3]);
});

test('a filter means measurements by the beginning of a signature or of a system', async () => {
  assert.deepEqual(await meant({ ids: [signatureOf(2).slice(0, 8)] }), [2]);
  assert.deepEqual(await meant({ ids: [OTHER_SYSTEM.fingerprint.slice(0, 8), signatureOf(0)] }), [0, 1]);
  assert.deepEqual(await meant({ ids: [signatureOf(2).slice(1)] }), []);
  assert.deepEqual(await meant({ ids: [] }), []);
  assert.deepEqual(await meant({ system: SYSTEM.fingerprint.slice(0, 8) }), [0, 2, 3]);
  assert.deepEqual(await meant({ system: signatureOf(0) }), []);
});

test('a filter means failures, disturbed measurements, and those before a time', async () => {
  assert.deepEqual(await meant({ failed: true }), [2]);
  assert.deepEqual(await meant({ disturbed: true }), [3]);
  assert.deepEqual(await meant({ beforeMs: Date.parse('2026-01-02T03:04:05.678Z') }), [3]);
  assert.deepEqual(await meant({ beforeMs: Date.parse('2026-01-02T03:04:05.679Z') }), [0, 1, 2, 3]);
});

test('a filter means the measurements that meet all of its conditions', async () => {
  assert.deepEqual(await meant({ system: OTHER_SYSTEM.fingerprint, ids: [signatureOf(1)] }), [1]);
  assert.deepEqual(await meant({ system: OTHER_SYSTEM.fingerprint, failed: true }), []);
});
