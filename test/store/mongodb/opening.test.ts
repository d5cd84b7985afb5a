import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Document, MongoServerError } from 'mongodb';
import { collect } from '../../../src/base/collect.js';
import type { ErrorCode } from '../../../src/base/errors.js';
import { openMongoStore } from '../../../src/store/mongodb/open.js';
import { isIndexThere } from '../../../src/store/mongodb/structure.js';
import { NOTES } from '../collection-contract.js';
import { SETUP_KEY, sampleMeasurement, signatureOf, SYSTEM } from '../sample-measurement.js';
import { assertRefused } from '../../rpc/support/refusal.js';
import { until } from '../../support/until.js';
import { needsFerretDb, startFerretDb } from './ferretdb-process.js';
import { startOldServer } from './old-server.js';
import { needsServer, newDatabase, withDatabase } from './server.js';

const QUIET = { onWarning: () => undefined };

async function assertUnopened(opening: Promise<unknown>, code: ErrorCode, message: RegExp): Promise<void> {
  await assertRefused(opening, code, message, /^(?!.*(secret|horse))/s);
}

interface Format extends Document {
  readonly _id: string;
  readonly schemaVersion: number;
}

const setVersion = (uri: string, schemaVersion: number) =>
  withDatabase(uri, (db) =>
    db.collection<Format>('format').replaceOne({ _id: 'store' }, { schemaVersion }, { upsert: true }),
  );

const versionIn = (uri: string) =>
  withDatabase(uri, async (db) => (await db.collection<Format>('format').findOne({ _id: 'store' }))?.schemaVersion);

describe('opening a MongoDB store', { ...needsServer }, () => {
  it('makes collections and indexes, and says that it made a store', async (t) => {
    const uri = newDatabase(t);
    const warnings: string[] = [];
    const options = { onWarning: (message: string) => warnings.push(message) };
    await (await openMongoStore(uri, options)).close();
    assert.match(warnings.join('\n'), /was not a store and is one now; .* check the name/);
    await (await openMongoStore(uri, options)).close();
    assert.equal(warnings.length, 1);
    await withDatabase(uri, async (db) => {
      const names = (await db.listCollections().toArray()).map(({ name }) => name).sort();
      assert.deepEqual(names, ['collections', 'format', 'measurements', 'parts', 'systems']);
      const indexes = await db.collection('measurements').indexes();
      const unique = indexes.find((index) => index.unique === true && !('_id' in index.key));
      assert.deepEqual(unique?.key, { signature: 1, fingerprint: 1, protocolKey: 1 });
    });
    assert.equal(await versionIn(uri), 2);
  });

  it('works for several processes at a time, as after an outage', async (t) => {
    const uri = newDatabase(t);
    const stores = await Promise.all(Array.from({ length: 8 }, () => openMongoStore(uri, QUIET)));
    await Promise.all(stores.map((store) => store.close()));
    const indexes = await withDatabase(uri, (db) => db.collection('measurements').indexes());
    assert.ok(indexes.some(({ unique }) => unique === true));
    const message = '[registry.go:498] SQL logic error: index measurements_7e3b5ff0_signature_1 already exists (1)';
    assert.ok(isIndexThere(new MongoServerError({ message, code: 1 })));
    const conflict = 'Index with name: signature_1 already exists with different options';
    assert.ok(!isIndexThere(new MongoServerError({ message: conflict, code: 85 })));
  });

  it('to read makes nothing: a database that is no store is an error', async (t) => {
    const uri = newDatabase(t);
    await assertUnopened(
      openMongoStore(uri, { ...QUIET, access: 'read' }),
      'not_found',
      /There is no store at mongodb:/,
    );
    const made = await withDatabase(uri, (db) => db.listCollections().toArray());
    assert.deepEqual(made, []);
  });

  it('to read finds documents without preparing their collections', async (t) => {
    const uri = newDatabase(t);
    const writer = await openMongoStore(uri, QUIET);
    await writer.putMeasurement(sampleMeasurement(1));
    await writer.close();
    const names = () => withDatabase(uri, (db) => db.listCollections().toArray()).then(({ length }) => length);
    const before = await names();
    const reader = await openMongoStore(uri, { ...QUIET, access: 'read' });
    const found = await reader.findMeasurements([signatureOf(1)], SYSTEM.fingerprint, SETUP_KEY);
    const notes = await collect(reader.collection(NOTES).find({}));
    await reader.close();
    assert.deepEqual([found.get(signatureOf(1)), notes], [sampleMeasurement(1), []]);
    assert.equal(await names(), before);
  });

  it('is done by two at once', async (t) => {
    const uri = newDatabase(t);
    const stores = await Promise.all([openMongoStore(uri, QUIET), openMongoStore(uri, QUIET)]);
    await Promise.all(stores.map((store, index) => store.putMeasurement(sampleMeasurement(index))));
    await Promise.all(stores.map((store) => store.close()));
  });

  it('refuses a store of a newer version', async (t) => {
    const uri = newDatabase(t);
    await setVersion(uri, 3);
    await assertUnopened(
      openMongoStore(uri, QUIET),
      'storage',
      /newer version .*\(schema 3; this version reads up to 2\)/,
    );
  });

  it("refuses another program's database", async (t) => {
    const uri = newDatabase(t);
    await withDatabase(uri, (db) => db.collection<Document & { _id: string }>('format').insertOne({ _id: 'store' }));
    await assertUnopened(openMongoStore(uri, QUIET), 'storage', /"format" of another program/);
  });

  it('gives a store of an older version its own', async (t) => {
    const uri = newDatabase(t);
    await setVersion(uri, 1);
    await (await openMongoStore(uri, QUIET)).close();
    assert.equal(await versionIn(uri), 2);
  });

  it('counts damaged documents as missing, says so, and replaces them', async (t) => {
    const uri = newDatabase(t);
    const warnings: string[] = [];
    const store = await openMongoStore(uri, { onWarning: (message) => warnings.push(message) });
    t.after(() => store.close());
    for (const index of [1, 2, 3]) await store.putMeasurement(sampleMeasurement(index));
    await withDatabase(uri, (db) => db.collection('measurements').updateMany({}, { $set: { costMs: -1 } }));
    warnings.length = 0;
    const find = () => store.findMeasurements([1, 2, 3].map(signatureOf), SYSTEM.fingerprint, SETUP_KEY);
    assert.equal((await find()).size, 0);
    assert.match(warnings.join('\n'), new RegExp(`The first of 3: ${signatureOf(1)}: costMs`));
    await store.putMeasurement(sampleMeasurement(1));
    assert.deepEqual((await find()).get(signatureOf(1)), sampleMeasurement(1));
  });
});

describe('a server that cannot be used', () => {
  it('is refused when it is too old', async (t) => {
    const uri = `mongodb://alice:secret@${await startOldServer(t)}/results`;
    await assertUnopened(openMongoStore(uri, QUIET), 'storage', /too old, MongoDB 4\.4 or newer is needed/);
  });

  it('is refused when it does not take the password', needsFerretDb, async (t) => {
    const { address } = await startFerretDb(t, { authenticated: true });
    const at = (credentials: string): string => `mongodb://${credentials}@${address}/results?authSource=admin`;
    const wrong = /does not accept the user or the password/;
    await assertUnopened(openMongoStore(at('alice:battery-horse'), QUIET), 'storage', wrong);
    await assertUnopened(openMongoStore(at('bob:correct-horse'), QUIET), 'storage', wrong);
    const store = await openMongoStore(at('alice:correct-horse'), QUIET);
    await store.putMeasurement(sampleMeasurement(1));
    await store.close();
  });

  it('loses nothing that it took when its disk is full', needsFerretDb, async (t) => {
    const { address } = await startFerretDb(t, { pages: 150 });
    const store = await openMongoStore(`mongodb://${address}/results`, QUIET);
    t.after(() => store.close());
    let stored = 0;
    const fill = async (): Promise<void> => {
      for (; stored < 10_000; stored += 1) await store.putMeasurement(sampleMeasurement(stored));
    };
    await assertUnopened(fill(), 'storage', /disk is full: free some space/);
    assert(stored > 0);
    const indices = [...Array(stored).keys()];
    const found = await store.findMeasurements(indices.map(signatureOf), SYSTEM.fingerprint, SETUP_KEY);
    assert.deepEqual(
      [...found.values()],
      indices.map((index) => sampleMeasurement(index)),
    );
  });
});

describe('opening a MongoDB store whose server is absent', { timeout: 300_000, ...needsFerretDb }, () => {
  it('waits for the server, says so, and continues when it answers', async (t) => {
    const server = await startFerretDb(t);
    await server.signal('SIGKILL');
    const warnings: string[] = [];
    const opening = openMongoStore(`mongodb://${server.address}/later`, {
      onWarning: (warning) => warnings.push(warning),
    });
    await until(() => warnings.some((warning) => warning.includes('waiting for it')));
    await server.start();
    const store = await opening;
    await store.putMeasurement(sampleMeasurement(1));
    await store.close();
    assert.ok(warnings.some((warning) => warning.includes('answers again')));
  });
});
