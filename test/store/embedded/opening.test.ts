import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { open } from 'lmdb';
import { openEmbeddedStore } from '../../../src/store/embedded/open.js';
import { assertRefused } from '../../rpc/support/refusal.js';
import { SETUP_KEY, sampleMeasurement, signatureOf, SYSTEM } from '../sample-measurement.js';
import { temporaryFolder } from '../temporary-folder.js';

async function assertUnopened(folder: string, message: RegExp): Promise<void> {
  await assertRefused(openEmbeddedStore(folder, {}), 'storage', message, folder);
}

/** A store with three measurements, closed. */
async function storeWithMeasurements(t: TestContext): Promise<string> {
  const folder = await temporaryFolder(t);
  const store = await openEmbeddedStore(folder, {});
  for (const index of [1, 2, 3]) await store.putMeasurement(sampleMeasurement(index));
  await store.close();
  return folder;
}

describe('a new store', { skip: process.platform === 'win32' }, () => {
  it('can be read by its owner only', async (t) => {
    const folder = join(await temporaryFolder(t), 'stores', 'mine');
    await (await openEmbeddedStore(folder, {})).close();
    const modes = await Promise.all(
      [join(folder, '..'), folder, join(folder, 'data.mdb')].map(async (path) => (await stat(path)).mode & 0o077),
    );
    assert.deepEqual(modes, [0, 0, 0]);
  });
});

/** Puts texts into a closed store's tables, or into a new LMDB environment, past our code. */
async function tamper(folder: string, table: string, change: (text: string | undefined) => string): Promise<void> {
  const root = open<string, string>({ path: folder, noSubdir: false, overlappingSync: false, encoding: 'string' });
  const database = root.openDB<string, string>({ name: table, encoding: 'string' });
  const keys = [...database.getKeys()];
  for (const key of keys.length > 0 ? keys : ['key']) await database.put(key, change(database.get(key)));
  await root.close();
}

describe('opening an embedded store', () => {
  it('finds what an earlier process stored', async (t) => {
    const store = await openEmbeddedStore(await storeWithMeasurements(t), {});
    const found = await store.findMeasurements([signatureOf(2)], SYSTEM.fingerprint, SETUP_KEY);
    assert.deepEqual(found.get(signatureOf(2)), sampleMeasurement(2));
    await store.close();
  });

  it('creates the folders on the way', async (t) => {
    const folder = join(await temporaryFolder(t), 'a', 'b.c', 'ü 1');
    await (await openEmbeddedStore(folder, {})).close();
    assert.deepEqual((await readdir(folder)).toSorted(), ['data.mdb', 'lock.mdb']);
  });

  it('shares one store between two users in a process', async (t) => {
    const folder = await temporaryFolder(t);
    const [one, other] = await Promise.all([openEmbeddedStore(folder, {}), openEmbeddedStore(`${folder}/.`, {})]);
    await one.putMeasurement(sampleMeasurement(1));
    await one.close();
    const found = await other.findMeasurements([signatureOf(1)], SYSTEM.fingerprint, SETUP_KEY);
    assert.equal(found.size, 1);
    await other.close();
  });

  it('opens again while it is being closed', async (t) => {
    const folder = await storeWithMeasurements(t);
    const first = await openEmbeddedStore(folder, {});
    const [, second] = await Promise.all([first.close(), openEmbeddedStore(folder, {})]);
    assert.equal((await second.listSystems()).length, 1);
    await second.close();
  });

  it('keeps the puts that were under way when it was closed', async (t) => {
    const folder = await temporaryFolder(t);
    const store = await openEmbeddedStore(folder, {});
    const put = store.putMeasurement(sampleMeasurement(1));
    await store.close();
    await put;
    const again = await openEmbeddedStore(folder, {});
    assert.equal((await again.findMeasurements([signatureOf(1)], SYSTEM.fingerprint, SETUP_KEY)).size, 1);
    await again.close();
  });

  it('refuses a file', async (t) => {
    const file = join(await temporaryFolder(t), 'store');
    await writeFile(file, 'text');
    for (const place of [file, join(file, 'below')]) {
      await assertRefused(openEmbeddedStore(place, {}), 'usage', /a part of that path is a file/, place);
    }
  });

  for (const name of ['data.mdb', 'lock.mdb']) {
    it(`refuses a pipe in the place of ${name} at once`, { skip: process.platform === 'win32' }, async (t) => {
      const folder = await storeWithMeasurements(t);
      await rm(join(folder, name));
      execFileSync('mkfifo', [join(folder, name)]);
      await assertUnopened(folder, /is not a file|is no file/);
    });
  }

  it('refuses a folder with other files, and leaves it as it was', async (t) => {
    const folder = await temporaryFolder(t);
    await writeFile(join(folder, 'thesis.tex'), '');
    await assertUnopened(folder, /not a store: it holds other files/);
    assert.deepEqual(await readdir(folder), ['thesis.tex']);
  });

  it('refuses a data file of something else, and leaves it as it was', async (t) => {
    const folder = await temporaryFolder(t);
    const bytes = Buffer.from('#!/bin/sh\n'.repeat(2000));
    await writeFile(join(folder, 'data.mdb'), bytes);
    await assertUnopened(folder, /its beginning is wrong/);
    assert.deepEqual(await readFile(join(folder, 'data.mdb')), bytes);
  });

  it('refuses a data file that is a folder', async (t) => {
    const folder = await temporaryFolder(t);
    await mkdir(join(folder, 'data.mdb'));
    await assertUnopened(folder, /a folder is where a file should be/);
  });

  for (const bytes of [10, 4096, 9000, 20_000]) {
    it(`refuses a data file that was cut off after ${bytes} bytes`, async (t) => {
      const folder = await storeWithMeasurements(t);
      await truncate(join(folder, 'data.mdb'), bytes);
      await assertUnopened(folder, /cut off|its beginning is wrong/);
    });
  }

  it('refuses a data file whose pages were zeroed', async (t) => {
    const folder = await storeWithMeasurements(t);
    const file = join(folder, 'data.mdb');
    const bytes = await readFile(file);
    await writeFile(file, bytes.fill(0, 2 * 4096));
    await assertUnopened(folder, /cannot be opened: it is damaged: .*MDB_/);
  });

  it("refuses another program's LMDB environment", async (t) => {
    const folder = await temporaryFolder(t);
    await tamper(folder, 'theirs', () => 'data');
    await assertUnopened(folder, /an LMDB database of another program/);
  });

  it('refuses a store of a newer version', async (t) => {
    const folder = await storeWithMeasurements(t);
    await tamper(folder, 'format', () => JSON.stringify({ schemaVersion: 3, whatever: true }));
    await assertUnopened(folder, /newer version of this program \(schema 3; this version reads up to 2\)/);
  });

  const isRoot = process.getuid?.() === 0;
  it('refuses a folder that may not be written to', { skip: isRoot && 'root may write anywhere' }, async (t) => {
    const folder = await storeWithMeasurements(t);
    await chmod(folder, 0o500);
    try {
      await assertUnopened(folder, /change the permissions/);
    } finally {
      await chmod(folder, 0o700);
    }
  });

  it('refuses files that may not be read', { skip: isRoot && 'root may read anything' }, async (t) => {
    const folder = await storeWithMeasurements(t);
    await chmod(join(folder, 'data.mdb'), 0o000);
    await assertUnopened(folder, /change the permissions/);
  });
});

describe('damaged documents in an embedded store', () => {
  const damages: readonly [string, string, (text: string | undefined) => string][] = [
    ['that is cut off', 'measurements', (text = '') => text.slice(0, -1)],
    ['that breaks the schema', 'measurements', (text = '') => text.replace('"costMs":', '"costMs":-')],
    ['of another protocol', 'measurements', (text = '') => text.replace('"runs":50', '"runs":51')],
    ['whose system cannot be read', 'systems', () => 'no JSON'],
  ];
  for (const [what, table, change] of damages) {
    it(`treats a measurement ${what} as not measured, says so, and can replace it`, async (t) => {
      const folder = await storeWithMeasurements(t);
      await tamper(folder, table, change);
      const warnings: string[] = [];
      const store = await openEmbeddedStore(folder, { onWarning: (message) => warnings.push(message) });
      t.after(() => store.close());
      const signatures = [1, 2, 3].map(signatureOf);

      assert.equal((await store.findMeasurements(signatures, SYSTEM.fingerprint, SETUP_KEY)).size, 0);
      assert.equal(warnings.length, 1);
      assert.match(warnings[0] ?? '', new RegExp(`The first of 3: ${signatureOf(1)}: `));

      await store.putMeasurement(sampleMeasurement(1));
      const found = await store.findMeasurements([signatureOf(1)], SYSTEM.fingerprint, SETUP_KEY);
      assert.deepEqual(found.get(signatureOf(1)), sampleMeasurement(1));
      assert.equal(warnings.length, 1);
    });
  }
});
