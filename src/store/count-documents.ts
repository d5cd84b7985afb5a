import type { CollectionShape } from './collection.js';
import type { ResultStore } from './result-store.js';
import { anyDocumentOf } from './transfer-record.js';

/** How many documents of a kind a store has. */
export async function countDocuments(store: ResultStore, shape: CollectionShape): Promise<number> {
  const documents = store.collection(anyDocumentOf(shape)).find({})[Symbol.asyncIterator]();
  let count = 0;
  while ((await documents.next()).done !== true) count += 1;
  return count;
}
