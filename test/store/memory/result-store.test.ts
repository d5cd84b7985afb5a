import { openMemoryStore } from '../../../src/store/memory/open.js';
import { resultStoreContract } from '../result-store-contract.js';

resultStoreContract('memory', () => openMemoryStore());
