import { MongoServerError } from 'mongodb';
import { z } from 'zod';
import { PlatformError } from '../../base/errors.js';
import { newerError } from '../storage-error.js';
import type { Connection } from './connection.js';
import { DUPLICATE_KEY } from './mongo-error.js';

/** Brings a store to the next schema version. Idempotent: it may be interrupted anywhere, and run twice at once. */
export type Migration = (connection: Connection) => Promise<void>;

/** From version 1 to 2, and so on. A migration is added with every change that an older version would misread. */
const MIGRATIONS: readonly Migration[] = [
  // Version 2 keeps a measurement's occasion, limits and context beside its protocol. Data of 1 is read as it is.
  () => Promise.resolve(),
];

interface Format {
  readonly _id: 'store';
  readonly schemaVersion: number;
}

const formatSchema = z.object({ schemaVersion: z.int().min(1) });

/** Writes this version into a new store, or brings an old one to it. @returns whether the database was no store */
export async function migrate(connection: Connection, migrations: readonly Migration[] = MIGRATIONS): Promise<boolean> {
  const newest = 1 + migrations.length;
  const found = await readVersion(connection);
  if (found === undefined) await writeVersion(connection, newest);
  else if (found > newest) throw newerError(connection.address, found, newest);
  else {
    for (const [index, migration] of migrations.entries()) {
      if (index + 1 < found) continue;
      await migration(connection);
      await writeVersion(connection, index + 2);
    }
  }
  return found === undefined;
}

/** Changes nothing; an older store is read as it is. @throws PlatformError `not_found`, or `storage` for a newer one */
export async function requireReadable(connection: Connection): Promise<void> {
  const newest = 1 + MIGRATIONS.length;
  const found = await readVersion(connection);
  if (found === undefined) {
    const remedy = 'check the name; commands that measure or import make a store';
    throw new PlatformError('not_found', `There is no store at ${connection.address}: ${remedy}.`);
  }
  if (found > newest) throw newerError(connection.address, found, newest);
}

async function writeVersion(connection: Connection, schemaVersion: number): Promise<void> {
  await connection.run('cannot be prepared', async (db) => {
    try {
      await db.collection<Format>('format').replaceOne({ _id: 'store' }, { schemaVersion }, { upsert: true });
    } catch (error) {
      // Another process was faster; it writes the same.
      if (!(error instanceof MongoServerError && error.code === DUPLICATE_KEY)) throw error;
    }
  });
}

async function readVersion(connection: Connection): Promise<number | undefined> {
  const format = await connection.run('cannot be opened', (db) =>
    db.collection<Format>('format').findOne({ _id: 'store' }),
  );
  if (format === null) return undefined;
  const result = formatSchema.safeParse(format);
  if (result.success) return result.data.schemaVersion;
  throw new PlatformError(
    'storage',
    `The store ${connection.address} has a collection "format" of another program. Name another database.`,
  );
}
