import type { Database, RootDatabase } from 'lmdb';
import { z } from 'zod';
import { PlatformError } from '../../base/errors.js';
import { newerError } from '../storage-error.js';

/** Raised with every change that an older version of this program would misread. Data of version 1 is read as it is. */
const SCHEMA_VERSION = 2;

const FORMAT_TABLE = 'format';
const FORMAT_KEY = 'store';

const formatSchema = z.object({ schemaVersion: z.int().min(1) });

export function requireOwnTables(tables: readonly string[], folder: string): void {
  if (tables.length > 0 && !tables.includes(FORMAT_TABLE)) throw notAStore(folder);
}

/** Before any other table is touched. @throws PlatformError `storage` for a newer store or another program's data */
export function requireFormat(root: RootDatabase<string, string>, folder: string): void {
  const table: Database<string, string> = root.openDB({ name: FORMAT_TABLE, encoding: 'string' });
  const found = root.transactionSync(() => {
    const text = table.get(FORMAT_KEY);
    const version = text === undefined ? 0 : schemaVersionIn(text, folder);
    if (version < SCHEMA_VERSION) table.putSync(FORMAT_KEY, JSON.stringify({ schemaVersion: SCHEMA_VERSION }));
    return version;
  });
  if (found > SCHEMA_VERSION) throw newerError(folder, found, SCHEMA_VERSION);
}

function schemaVersionIn(text: string, folder: string): number {
  try {
    return formatSchema.parse(JSON.parse(text)).schemaVersion;
  } catch {
    throw notAStore(folder);
  }
}

function notAStore(folder: string): PlatformError {
  return new PlatformError(
    'storage',
    `${folder} holds an LMDB database of another program. Name a folder that is new or empty, or that of a store.`,
  );
}
