import { it, type TestContext } from 'node:test';
import { openMongoStore } from '../../../src/store/mongodb/open.js';
import type { ResultStore } from '../../../src/store/result-store.js';
import { collectionContract } from '../collection-contract.js';
import { resultStoreContract } from '../result-store-contract.js';
import { MONGODB_URI, needsServer, newDatabase } from './server.js';

async function open(t: TestContext): Promise<ResultStore> {
  const uri = newDatabase(t);
  const store = await openMongoStore(uri, { onWarning: () => undefined });
  t.after(() => store.close());
  return store;
}

if (MONGODB_URI === undefined) it("MongoDB: the store's contract", needsServer);
else {
  resultStoreContract('MongoDB', open);
  collectionContract('MongoDB', open);
}
