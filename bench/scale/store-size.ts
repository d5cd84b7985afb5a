import { BSON, type Db, MongoClient } from 'mongodb';
import { z } from 'zod';
import { openMongoStore } from '../../src/store/mongodb/open.js';
import type { ResultStore } from '../../src/store/result-store.js';
import { SYSTEM } from '../../test/store/sample-measurement.js';
import { measurementOf, requestsOf } from './bricks.js';

/** Cost of each measurement, a number that takes the same number of bytes with any value. */
const BRICK_MS = 67;

/** Measurements that are put concurrently. */
const AT_ONCE = 1000;

const indexSchema = z.strictObject({
  name: z.string(),
  /** Size of an entry as MongoDB writes it, before it omits the common prefixes of adjacent entries. */
  keyBytes: z.number(),
  /** On this server's disk; null where it does not say. */
  diskBytes: z.number().nullable(),
});

export const storeSizeSchema = z.strictObject({
  measurements: z.int(),
  /** Size of a document in BSON, which is the same on every server. */
  documentBytes: z.number(),
  /** Size of the collection on this server's disk, for each measurement; null where it does not say. */
  diskBytes: z.number().nullable(),
  indexes: z.array(indexSchema),
});

/** The size of each measurement in a store that holds a number of them. */
export type StoreSize = Readonly<z.infer<typeof storeSizeSchema>>;

/**
 * A type byte and a final byte for each text, then the end and the record id of the document (mongo,
 * src/mongo/db/storage/key_string).
 */
const BYTES_AROUND_TEXT = 2;
const BYTES_AFTER_KEY = 6;

/** Bytes of an index entry of texts. */
export function keyBytesOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text) + BYTES_AROUND_TEXT, BYTES_AFTER_KEY);
}

const statsSchema = z.looseObject({
  storageSize: z.number().optional(),
  indexSizes: z.record(z.string(), z.number()).optional(),
});

async function sizeOf(db: Db, measurements: number): Promise<StoreSize> {
  const collection = db.collection('measurements');
  const samples = await collection.find().limit(100).toArray();
  const mean = (of: (document: (typeof samples)[number]) => number): number => {
    return Math.round(samples.reduce((sum, document) => sum + of(document), 0) / samples.length);
  };
  const { storageSize, indexSizes = {} } = statsSchema.parse(await db.command({ collStats: 'measurements' }));
  const each = (bytes: number | undefined): number | null => {
    return bytes === undefined || bytes === 0 ? null : Math.round(bytes / measurements);
  };
  const indexes = (await collection.indexes()).map(({ name = '', key }) => {
    const fields = Object.keys(key);
    const keyBytes = mean((document) => keyBytesOf(fields.map((field) => String(document[field]))));
    return { name, keyBytes, diskBytes: each(indexSizes[name]) };
  });
  const documentBytes = mean((document) => BSON.calculateObjectSize(document));
  return { measurements, documentBytes, diskBytes: each(storageSize), indexes };
}

async function fill(store: ResultStore, name: string, count: number): Promise<void> {
  const requests = requestsOf({ name, bricks: count });
  for (let first = 0; first < count; first += AT_ONCE) {
    const some = requests.slice(first, first + AT_ONCE);
    await Promise.all(some.map((request) => store.putMeasurement(measurementOf(request, SYSTEM, BRICK_MS))));
  }
}

/** The sizes of measurements in a new database, which is filled to each of the counts in turn. */
export async function storeSizes(uri: string, counts: readonly number[]): Promise<readonly StoreSize[]> {
  const store = await openMongoStore(uri, { onWarning: () => undefined });
  const client = await MongoClient.connect(uri);
  const sizes: StoreSize[] = [];
  let stored = 0;
  try {
    for (const count of counts) {
      await fill(store, `size ${count}`, count - stored);
      stored = count;
      sizes.push(await sizeOf(client.db(), count));
    }
  } finally {
    await client.close();
    await store.close();
  }
  return sizes;
}
