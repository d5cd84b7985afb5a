import type { CollectionShape } from './collection.js';
import type { ResultStore } from './result-store.js';
import { anyDocumentOf } from './transfer-record.js';

export function countDocuments(store: ResultStore, shape: CollectionShape): Promise<number> {
  return store.collection(anyDocumentOf(shape)).count();
}
