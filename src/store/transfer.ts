import type { ResultStore } from './result-store.js';
import { anyDocumentOf, type TransferRecord } from './transfer-record.js';

/** Put at once: enough to share flushes and requests, few enough to hold in memory. */
const BATCH = 500;

/** How much was moved. */
export interface Transferred {
  readonly measurements: number;
  readonly documents: number;
}

/** Everything in a store, one thing at a time: measurements, then each kind of document, in the order of their keys. */
export async function* recordsOf(store: ResultStore): AsyncIterable<TransferRecord> {
  for await (const measurement of store.listMeasurements()) yield { kind: 'measurement', measurement };
  for (const collection of await store.listCollections()) {
    for await (const document of store.collection(anyDocumentOf(collection)).find({})) {
      yield { kind: 'document', collection, document };
    }
  }
}

/** Puts records into a store; those that it has already stay or are replaced by the same. */
export async function putRecords(
  records: AsyncIterable<TransferRecord>,
  store: ResultStore,
  onProgress: (transferred: Transferred) => void = () => undefined,
): Promise<Transferred> {
  let transferred: Transferred = { measurements: 0, documents: 0 };
  let batch: TransferRecord[] = [];
  const flush = async (): Promise<void> => {
    await Promise.all(batch.map((record) => putRecord(record, store)));
    const measurements = batch.filter(({ kind }) => kind === 'measurement').length;
    transferred = {
      measurements: transferred.measurements + measurements,
      documents: transferred.documents + batch.length - measurements,
    };
    batch = [];
    onProgress(transferred);
  };
  for await (const record of records) {
    batch.push(record);
    if (batch.length >= BATCH) await flush();
  }
  if (batch.length > 0) await flush();
  return transferred;
}

export function putRecord(record: TransferRecord, store: ResultStore): Promise<void> {
  if (record.kind === 'measurement') return store.putMeasurement(record.measurement);
  return store.collection(anyDocumentOf(record.collection)).put(record.document);
}
