import type { TestContext } from 'node:test';
import { openEmbeddedStore } from '../../../src/store/embedded/open.js';
import type { ResultStore } from '../../../src/store/result-store.js';
import { collectionContract } from '../collection-contract.js';
import { leasesContract } from '../leases-contract.js';
import { resultStoreContract } from '../result-store-contract.js';
import { temporaryFolder } from '../temporary-folder.js';

async function open(t: TestContext): Promise<ResultStore> {
  const store = await openEmbeddedStore(await temporaryFolder(t), {});
  t.after(() => store.close());
  return store;
}

resultStoreContract('embedded', open);
collectionContract('embedded', open);
leasesContract('embedded', open);
