import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import { MongoClient, type Db } from 'mongodb';

/** The server that these tests are to use, as in mongodb://127.0.0.1:27017; databases are made in it and dropped. */
export const MONGODB_URI = process.env['MONGODB_URI'];

/** For describe and it: skips where no server was named. */
export const needsServer = { skip: MONGODB_URI === undefined && 'needs a server: set MONGODB_URI' };

/** URI of a new database on the server, dropped after the test. */
export function newDatabase(t: TestContext): string {
  if (MONGODB_URI === undefined) throw new Error('MONGODB_URI is not set');
  const uri = new URL(MONGODB_URI);
  uri.pathname = `/mlmodelscope_test_${randomBytes(6).toString('hex')}`;
  t.after(() => withDatabase(uri.href, (db) => db.dropDatabase()));
  return uri.href;
}

/** Something done past our code. */
export async function withDatabase<T>(uri: string, action: (db: Db) => Promise<T>): Promise<T> {
  const client = new MongoClient(uri);
  try {
    return await action(client.db());
  } finally {
    await client.close();
  }
}
