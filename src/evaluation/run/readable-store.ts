import { setImmediate } from 'node:timers/promises';
import { throwIfCancelled } from '../../base/cancellation.js';
import type { ResultStore } from '../../store/result-store.js';
import type { ReadableStore } from '../analysis.js';

/** Then timers and signals get their turn: a store in memory never waits by itself. */
const READ_AT_ONCE = 256;

async function* whileWanted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  let read = 0;
  for await (const item of source) {
    if (++read % READ_AT_ONCE === 0) await setImmediate();
    throwIfCancelled(signal);
    yield item;
  }
}

export function readableStore(store: ResultStore, signal: AbortSignal): ReadableStore {
  async function whenWanted<T>(read: () => Promise<T>): Promise<T> {
    await setImmediate();
    throwIfCancelled(signal);
    return await read();
  }
  return {
    findMeasurements: (...keys) => whenWanted(() => store.findMeasurements(...keys)),
    listSystems: () => whenWanted(() => store.listSystems()),
    listMeasurements: () => whileWanted(store.listMeasurements(), signal),
    listCollections: () => whenWanted(() => store.listCollections()),
    collection: (definition) => {
      const documents = store.collection(definition);
      return {
        get: (key) => whenWanted(() => documents.get(key)),
        find: (match) => whileWanted(documents.find(match), signal),
      };
    },
  };
}
