import { MongoServerError, type CreateIndexesOptions, type Document } from 'mongodb';
import { messageOf } from '../../base/errors.js';
import type { Connection } from './connection.js';

export interface Structure {
  readonly name: string;
  readonly validator: Document | undefined;
  readonly indexes: readonly { readonly fields: readonly string[]; readonly unique: boolean }[];
}

const INTERNAL_ERROR = new Set([1]);

const NAMESPACE_EXISTS = 48;

/** Of a server without validators, or for a user who may not change them (mongo, src/mongo/base/error_codes.yml). */
const NO_VALIDATORS = new Set([13, 59, 72, 115, 238, 40415]);

const WHAT = 'cannot be prepared';

/** Creates the collection, its indexes and its validator, or corrects them. Idempotent. */
export async function ensureStructure(connection: Connection, { name, validator, indexes }: Structure): Promise<void> {
  await connection.run(WHAT, async (db) => {
    await ignoring([NAMESPACE_EXISTS], async () => {
      try {
        await db.createCollection(name, validator === undefined ? {} : { validator });
      } catch (error) {
        if (validator === undefined || !isOneOf(error, NO_VALIDATORS)) throw error;
        await db.createCollection(name);
      }
    });
    for (const { fields, unique } of indexes) {
      const options: CreateIndexesOptions = unique ? { unique } : {};
      const keys = Object.fromEntries(fields.map((field) => [field, 1]));
      await db
        .collection(name)
        .createIndex(keys, options)
        .catch((error: unknown) => {
          if (!isIndexThere(error)) throw error;
        });
    }
  });
  if (validator === undefined) return;
  await connection.run(WHAT, (db) =>
    ignoring([...NO_VALIDATORS], async () => {
      await db.command({ collMod: name, validator });
    }),
  );
}

async function ignoring(codes: readonly number[], action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    if (!isOneOf(error, new Set(codes))) throw error;
  }
}

/** FerretDB's SQLite backend tells this one of two processes that create an index at once; MongoDB has codes. */
export function isIndexThere(error: unknown): boolean {
  return isOneOf(error, INTERNAL_ERROR) && /\bindex \S+ already exists\b/.test(messageOf(error));
}

function isOneOf(error: unknown, codes: ReadonlySet<number>): boolean {
  return error instanceof MongoServerError && codes.has(Number(error.code));
}
