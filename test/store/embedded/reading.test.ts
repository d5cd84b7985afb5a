import assert from 'node:assert/strict';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { openEmbeddedStore, openEmbeddedStoreToRead } from '../../../src/store/embedded/open.js';
import { refusal } from '../../rpc/support/refusal.js';
import { sampleMeasurement, SETUP_KEY, signatureOf, SYSTEM } from '../sample-measurement.js';
import { temporaryFolder } from '../temporary-folder.js';

describe('an embedded store that is opened to read', () => {
  it('is an error where it is not there, and is not made', async (t) => {
    const folder = await temporaryFolder(t);
    const missing = join(folder, 'missing');
    await mkdir(join(folder, 'empty'));
    for (const path of [missing, join(folder, 'empty')]) {
      await assert.rejects(
        openEmbeddedStoreToRead(path, {}),
        refusal('not_found', /^There is no store at .*: check --store/),
      );
    }
    assert.deepEqual(await readdir(folder, { recursive: true }), ['empty']);
  });

  it('is an error where a file is in its place', async (t) => {
    const file = join(await temporaryFolder(t), 'file');
    await writeFile(file, '');
    await assert.rejects(openEmbeddedStoreToRead(file, {}), refusal('not_found', /There is no store at/));
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
