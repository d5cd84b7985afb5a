import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { readFolder } from '../../src/registry/model-folder.js';
import { temporaryFolder } from '../store/temporary-folder.js';

async function folderOf(t: TestContext, manifests: number): Promise<string> {
  const folder = await temporaryFolder(t);
  for (let i = 0; i < manifests; i++) writeFileSync(join(folder, `${String(i).padStart(5, '0')}.yml`), '');
  return folder;
}

const nameOf = (path: string): Promise<string> => Promise.resolve(basename(path));

test('a folder with too many manifests says so, and its first ones are read', async (t) => {
  const folder = await folderOf(t, 10_001);
  const { read, notRead } = await readFolder(folder, nameOf);
  assert.deepEqual([read.length, read[0], read.at(-1)], [10_000, '00000.yml', '09999.yml']);
  assert.equal(notRead, `${folder} has 10001 manifests; only the first 10000 by name are read`);
});

test('a folder is read whole up to the limit', async (t) => {
  assert.deepEqual(await readFolder(await folderOf(t, 2), nameOf), {
    read: ['00000.yml', '00001.yml'],
    notRead: undefined,
  });
});
