import type { ResultStore } from '../result-store.js';
import { MemoryResultStore } from './result-store.js';

/** A new, empty store. */
export function openMemoryStore(): Promise<ResultStore> {
  return Promise.resolve(new MemoryResultStore());
}
