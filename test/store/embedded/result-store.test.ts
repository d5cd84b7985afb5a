import { openEmbeddedStore } from '../../../src/store/embedded/open.js';
import { resultStoreContract } from '../result-store-contract.js';
import { temporaryFolder } from '../temporary-folder.js';

resultStoreContract('embedded', async (t) => {
  const store = await openEmbeddedStore(await temporaryFolder(t), {});
  t.after(() => store.close());
  return store;
});
