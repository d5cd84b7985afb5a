import type { ResultStore } from './result-store.js';
import { defineAnyDocument, type TransferRecord } from './transfer-record.js';

/** Records that are put at once: enough to share flushes and requests, few enough to hold in memory. */
const BATCH = 500;

/** Characters of records that are put at once; one record may have more. */
const BATCH_CHARACTERS = 32 * 2 ** 20;

export interface Transferred {
  readonly measurements: number;
  readonly documents: number;
}

/** All records of a store: measurements, then each kind of document, in the order of their keys. */
export async function* readRecords(store: ResultStore): AsyncIterable<TransferRecord> {
  for await (const measurement of store.listMeasurements()) yield { kind: 'measurement', measurement };
  for (const collection of await store.listCollections()) {
    for await (const document of store.collection(defineAnyDocument(collection)).find({})) {
      yield { kind: 'document', collection, document };
    }
  }
}

/** Where a record cannot be read, those before it are put, and the error is thrown. */
export async function putRecords(records: AsyncIterable<TransferRecord>, store: ResultStore): Promise<Transferred> {
  const transferred = { measurements: 0, documents: 0 };
  let batch: TransferRecord[] = [];
  let characters = 0;
  const flush = async (): Promise<void> => {
    const putting = batch;
    batch = [];
    characters = 0;
    await Promise.all(putting.map((record) => putRecord(record, store)));
    const measurements = putting.filter(({ kind }) => kind === 'measurement').length;
    transferred.measurements += measurements;
    transferred.documents += putting.length - measurements;
  };
  try {
    for await (const record of records) {
      batch.push(record);
      characters += countCharacters(record);
      if (batch.length >= BATCH || characters >= BATCH_CHARACTERS) await flush();
    }
  } finally {
    if (batch.length > 0) await flush();
  }
  return transferred;
}

function countCharacters(record: TransferRecord): number {
  if (record.kind === 'document') return JSON.stringify(record.document).length;
  const { outcome } = record.measurement;
  return outcome.kind === 'samples' ? JSON.stringify(outcome).length : outcome.message.length;
}

export function putRecord(record: TransferRecord, store: ResultStore): Promise<void> {
  if (record.kind === 'measurement') return store.putMeasurement(record.measurement);
  return store.collection(defineAnyDocument(record.collection)).put(record.document);
}
