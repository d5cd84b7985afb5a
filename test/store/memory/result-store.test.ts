import { openMemoryStore } from '../../../src/store/memory/open.js';
import { collectionContract } from '../collection-contract.js';
import { leasesContract } from '../leases-contract.js';
import { resultStoreContract } from '../result-store-contract.js';

resultStoreContract('memory', () => openMemoryStore());
collectionContract('memory', () => openMemoryStore());
leasesContract('memory', () => openMemoryStore());
