import { PlatformError } from '../base/errors.js';
import type { Collection, CollectionDefinition } from './collection.js';
import type { ResultStore } from './result-store.js';

export function readOnlyStore(store: ResultStore, address: string, onClosed: () => void): ResultStore {
  const refuse = (): Promise<never> => {
    const problem = `The store ${address} cannot be written to by this user`;
    return Promise.reject(new PlatformError('storage', `${problem}; choose another place with --store.`));
  };
  return {
    isReadOnly: true,
    putMeasurement: refuse,
    deleteMeasurements: refuse,
    findMeasurements: (...key) => store.findMeasurements(...key),
    measurementsOf: (signature) => store.measurementsOf(signature),
    listSystems: () => store.listSystems(),
    countSystems: (onSlow) => store.countSystems(onSlow),
    listMeasurements: () => store.listMeasurements(),
    listCollections: () => store.listCollections(),
    collection<Document extends object>(definition: CollectionDefinition<Document>): Collection<Document> {
      const documents = store.collection(definition);
      return {
        put: refuse,
        putMany: refuse,
        insert: refuse,
        delete: refuse,
        get: (key) => documents.get(key),
        find: (match) => documents.find(match),
        count: () => documents.count(),
      };
    },
    close: () => store.close().finally(onClosed),
  };
}
