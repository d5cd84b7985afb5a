import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import type { ResultStore } from '../../../src/store/result-store.js';
import { openTeamStore } from '../../../src/store/spool/open.js';
import { collectionContract } from '../collection-contract.js';
import { leasesContract } from '../leases-contract.js';
import { resultStoreContract } from '../result-store-contract.js';
import { sampleMeasurement } from '../sample-measurement.js';
import { temporaryFolder } from '../temporary-folder.js';
import { MONGODB_URI, needsServer, newDatabase } from './server.js';

/** As users have it, with a spool. */
async function open(t: TestContext): Promise<ResultStore> {
  const store = await openTeamStore(newDatabase(t), await temporaryFolder(t), { onWarning: () => undefined });
  t.after(() => store.close());
  return store;
}

if (MONGODB_URI === undefined) it("MongoDB: the store's contract", needsServer);
else {
  resultStoreContract('MongoDB', open);
  collectionContract('MongoDB', open);
  leasesContract('MongoDB', open);

  it('MongoDB: a listing that the store closes in the middle of fails, and does not end early', async (t) => {
    const store = await open(t);
    for (const index of [1, 2, 3]) await store.putMeasurement(sampleMeasurement(index));
    const listing = store.listMeasurements()[Symbol.asyncIterator]();
    assert.equal((await listing.next()).done, false);
    await store.close();
    await assert.rejects(listing.next(), { code: 'storage', message: /has been closed/ });
  });
}
