import { randomBytes } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { startFerretDb } from '../../test/store/mongodb/ferretdb-process.js';
import type { Lifetime } from '../../test/support/lifetime.js';

/** A database of its own on a server. */
export interface Database {
  /** The server and its version. */
  readonly name: string;
  readonly uri: string;
  /** Id of its process, where it is known and the process did not start here. */
  readonly pid?: number;
}

async function nameOf(uri: string): Promise<string> {
  const client = await MongoClient.connect(uri);
  try {
    const { ferretdbVersion, version } = await client.db().command({ buildInfo: 1 });
    return ferretdbVersion === undefined ? `MongoDB ${String(version)}` : `FerretDB ${String(ferretdbVersion)}`;
  } finally {
    await client.close();
  }
}

async function dropDatabase(uri: string): Promise<void> {
  const client = await MongoClient.connect(uri);
  try {
    await client.db().dropDatabase();
  } finally {
    await client.close();
  }
}

/**
 * Makes a new database. Where FERRETDB names the program, its server starts here. Otherwise the server is the one at
 * MONGODB_URI; DATABASE_PID may give the id of its process, and SERVER_NAME its name.
 *
 * @throws Error where neither is set
 */
export async function newDatabase(t: Lifetime): Promise<Database> {
  const given = process.env['MONGODB_URI'];
  if (process.env['FERRETDB'] !== undefined) {
    const { address } = await startFerretDb(t);
    const uri = `mongodb://${address}/scale`;
    return { name: await nameOf(uri), uri };
  }
  if (given === undefined) {
    throw new Error(
      'name a MongoDB-compatible server by MONGODB_URI, or run this by test/store/mongodb/ferretdb.sh run',
    );
  }
  const url = new URL(given);
  url.pathname = `/mlmodelscope_scale_${randomBytes(6).toString('hex')}`;
  t.after(() => dropDatabase(url.href));
  const { SERVER_NAME: name = await nameOf(url.href), DATABASE_PID: pid } = process.env;
  return { name, uri: url.href, ...(pid === undefined ? {} : { pid: Number(pid) }) };
}
