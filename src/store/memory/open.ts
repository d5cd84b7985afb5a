import type { ResultStore } from '../result-store.js';
import { MemoryResultStore } from './result-store.js';

export function openMemoryStore(): Promise<ResultStore> {
  return Promise.resolve(new MemoryResultStore());
}
