import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openMongoStore } from '../../../src/store/mongodb/open.js';
import { note, NOTES } from '../collection-contract.js';
import { SETUP_KEY, sampleMeasurement, signatureOf, SYSTEM } from '../sample-measurement.js';
import { needsServer, newDatabase, withDatabase } from './server.js';

/** Texts that take so many MB together, more than the 16 MiB that a document of MongoDB may have. */
function texts(megabytes: number, mark: string): string[] {
  return Array.from({ length: megabytes * 10 }, () => mark.repeat(100_000));
}

const countParts = (uri: string) => withDatabase(uri, (db) => db.collection('parts').countDocuments());

describe('documents over 16 MB', { ...needsServer, timeout: 120_000 }, () => {
  it('are split, replaced, and deleted with all of their parts', async (t) => {
    const uri = newDatabase(t);
    const store = await openMongoStore(uri, {
      onWarning: (message) => assert.match(message, /was not a store|answer/),
    });
    t.after(() => store.close());
    const notes = store.collection(NOTES);
    for (const extra of [texts(20, 'a'), texts(30, 'b')]) {
      const large = note('x', { extra });
      await notes.put(large);
      assert.deepEqual(await notes.get({ shelf: 'a', title: 'x' }), large);
    }
    // 8 MiB each of the second one; none of the first.
    assert.equal(await countParts(uri), 4);
    // What it is found by has stayed in it.
    const found = await withDatabase(uri, (db) => db.collection('notes').find({ author: 'ann' }).toArray());
    assert.equal(found.length, 1);
    assert.equal(await notes.delete({ author: 'ann' }), 1);
    assert.equal(await countParts(uri), 0);
  });

  it('are measurements of a million runs as well', async (t) => {
    const store = await openMongoStore(newDatabase(t), { onWarning: () => undefined });
    t.after(() => store.close());
    const runMs = Array.from({ length: 1_000_000 }, (_, index) => Math.sqrt(index));
    const measurement = sampleMeasurement(1, { outcome: { kind: 'samples', runMs, warmupMs: [] } });
    await store.putMeasurement(measurement);
    const found = await store.findMeasurements([signatureOf(1)], SYSTEM.fingerprint, SETUP_KEY);
    assert.deepEqual(found.get(signatureOf(1)), measurement);
  });
});
