import { systemSchema } from '../../measurement/system.js';
import { measurementDocumentSchema } from '../measurement-document.js';
import type { StoreOptions } from '../result-store.js';
import { Connection } from './connection.js';
import { MongoResultStore } from './result-store.js';
import { ensureVersion, requireReadable } from './schema-version.js';
import { ensureStructure, type Structure } from './structure.js';
import { buildValidator } from './validator.js';

/** Every collection, except those of further kinds of documents. `docs/storage.md` shows a document of each. */
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
    if (connection.isOnlyRead) {
      await requireReadable(connection);
      return new MongoResultStore(connection);
    }
    const isNew = await ensureVersion(connection);
    for (const structure of STRUCTURES) await ensureStructure(connection, structure);
    if (isNew)
      connection.warn(
        `${connection.address} was not a store and is one now; if you meant another database, check the name.`,
      );
    return new MongoResultStore(connection);
  } catch (thrown) {
    await connection.close();
    throw thrown;
  }
}
