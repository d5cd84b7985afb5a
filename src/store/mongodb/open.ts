import { systemSchema } from '../../measurement/system.js';
import { measurementDocumentSchema } from '../measurement-document.js';
import type { StoreOptions } from '../result-store.js';
import { Connection } from './connection.js';
import { MongoResultStore } from './result-store.js';
import { ensureStructure, type Structure } from './structure.js';
import { buildValidator } from './validator.js';
import { MongoServerError } from 'mongodb';
import { z } from 'zod';
import { PlatformError } from '../../base/errors.js';
import { newerError } from '../storage-error.js';
import { DUPLICATE_KEY } from './mongo-error.js';

/**
 * Raised with every change that an older version of this program would misread. Version 2 keeps a measurement's
 * occasion, limits and context beside its protocol. Data of version 1 is read as it is.
 */
const SCHEMA_VERSION = 2;

interface Format {
  readonly _id: 'store';
  readonly schemaVersion: number;
}

const formatSchema = z.object({ schemaVersion: z.int().min(1) });

async function writeVersion(connection: Connection): Promise<void> {
  const version = { schemaVersion: SCHEMA_VERSION };
  await connection.run('cannot be prepared', async (db) => {
    try {
      await db.collection<Format>('format').replaceOne({ _id: 'store' }, version, { upsert: true });
    } catch (error) {
      // Another process was faster; it writes the same.
      if (!(error instanceof MongoServerError && error.code === DUPLICATE_KEY)) throw error;
    }
  });
}

/** Undefined for a new store. @throws PlatformError `storage` for a newer store or another program's database */
async function readVersion(connection: Connection): Promise<number | undefined> {
  const format = await connection.run('cannot be opened', (db) =>
    db.collection<Format>('format').findOne({ _id: 'store' }),
  );
  if (format === null) return undefined;
  const version = formatSchema.safeParse(format).data?.schemaVersion;
  if (version === undefined) {
    const problem = `The store ${connection.address} has a collection "format" of another program`;
    throw new PlatformError('storage', `${problem}. Name another database.`);
  }
  if (version > SCHEMA_VERSION) throw newerError(connection.address, version, SCHEMA_VERSION);
  return version;
}

/** Every collection, except those of further kinds of documents. `docs/storage.md` lists them. */
const STRUCTURES: readonly Structure[] = [
  {
    name: 'measurements',
    validator: buildValidator(measurementDocumentSchema, ['fingerprint', 'protocolKey']),
    indexes: [
      { fields: ['signature', 'fingerprint', 'protocolKey'], unique: true },
      { fields: ['fingerprint', 'protocolKey'], unique: false },
    ],
  },
  {
    name: 'systems',
    validator: buildValidator(systemSchema, []),
    indexes: [{ fields: ['fingerprint'], unique: false }],
  },
  { name: 'collections', validator: undefined, indexes: [] },
  { name: 'parts', validator: undefined, indexes: [{ fields: ['document'], unique: false }] },
];

/**
 * Opens the store in a database. Creates both, unless the access is `read`. @throws PlatformError `usage` for a wrong
 * URI, `not_found` for a missing store (`read`), `unavailable` if no server answers, `storage` if the server refuses
 */
export async function openMongoStore(uri: string, options: StoreOptions): Promise<MongoResultStore> {
  const connection = await Connection.open(uri, options);
  try {
    const found = await readVersion(connection);
    // Nothing is changed; an older store is read as it is.
    if (connection.isOnlyRead && found !== undefined) return new MongoResultStore(connection);
    if (connection.isOnlyRead) {
      const remedy = 'check the name; commands that measure or import make a store';
      throw new PlatformError('not_found', `There is no store at ${connection.address}: ${remedy}.`);
    }
    if (found !== SCHEMA_VERSION) await writeVersion(connection);
    for (const structure of STRUCTURES) await ensureStructure(connection, structure);
    if (found === undefined)
      connection.warn(
        `${connection.address} was not a store and is one now; if you meant another database, check the name.`,
      );
    return new MongoResultStore(connection);
  } catch (thrown) {
    await connection.close();
    throw thrown;
  }
}
