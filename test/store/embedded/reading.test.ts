import assert from 'node:assert/strict';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { openEmbeddedStore, openEmbeddedStoreToRead } from '../../../src/store/embedded/open.js';
import { acquireEnvironment, releaseEnvironment } from '../../../src/store/embedded/shared-environment.js';
import { assertRefused } from '../../rpc/support/refusal.js';
import { sampleMeasurement, SETUP_KEY, signatureOf, SYSTEM } from '../sample-measurement.js';
import { temporaryFolder } from '../temporary-folder.js';

describe('an embedded store that is opened to read', () => {
  it('is an error where it is not there, and is not made', async (t) => {
    const folder = await temporaryFolder(t);
    const missing = join(folder, 'missing');
    await mkdir(join(folder, 'empty'));
    for (const path of [missing, join(folder, 'empty')]) {
      await assertRefused(openEmbeddedStoreToRead(path, {}), 'not_found', /^There is no store at .*: check --store/);
    }
    assert.deepEqual(await readdir(folder, { recursive: true }), ['empty']);
  });

  it('is an error where a file is in its place', async (t) => {
    const file = join(await temporaryFolder(t), 'file');
    await writeFile(file, '');
    await assertRefused(openEmbeddedStoreToRead(file, {}), 'not_found', /There is no store at/);
  });

  it('sees what another user of the same store writes meanwhile', async (t) => {
    const folder = await temporaryFolder(t);
    const writer = await openEmbeddedStore(folder, {});
    t.after(() => writer.close());
    const reader = await openEmbeddedStoreToRead(folder, {});
    t.after(() => reader.close());
    await writer.putMeasurement(sampleMeasurement(1));
    const found = await reader.findMeasurements([signatureOf(1)], SYSTEM.fingerprint, SETUP_KEY);
    assert.deepEqual(found.get(signatureOf(1)), sampleMeasurement(1));
  });
});

describe('finding measurements in an embedded store', () => {
  it('renews its view of the store once for many of them, and for each call', async (t) => {
    const folder = await temporaryFolder(t);
    const store = await openEmbeddedStore(folder, {});
    t.after(() => store.close());
    const numbers = Array.from({ length: 300 }, (_, index) => index + 1);
    await Promise.all(numbers.map((number) => store.putMeasurement(sampleMeasurement(number))));
    const environment = await acquireEnvironment(folder);
    t.after(() => releaseEnvironment(environment));
    const { mock: views } = t.mock.method(environment, 'read');
    const find = () => store.findMeasurements(numbers.map(signatureOf), SYSTEM.fingerprint, SETUP_KEY);
    assert.equal((await find()).size, 300);
    // One for each 250 measurements, and one for their system.
    assert.equal(views.callCount(), 3);
    await find();
    assert.equal(views.callCount(), 6);
  });
});
