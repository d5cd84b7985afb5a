import assert from 'node:assert/strict';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { DISK } from '../../src/manifest/files.js';
import { folderWith } from './folder.js';

const OWN_FILES = '/proc/self/fd';

/** The paths of the files that this process has open. */
function ownFiles(): readonly string[] {
  return readdirSync(OWN_FILES).flatMap((descriptor) => {
    try {
      return [readlinkSync(join(OWN_FILES, descriptor))];
    } catch {
      // It was closed meanwhile.
      return [];
    }
  });
}

test('a file that a manifest refers to is there, or is described', async (t) => {
  const folder = await folderWith(t, { 'net.onnx': 'x' });
  assert.equal(await DISK.missing(join(folder, 'net.onnx')), undefined);
  assert.equal(await DISK.missing(folder), 'a folder');
  assert.equal(await DISK.missing(join(folder, 'other.onnx')), 'no such file');
});

test('no file stays open', { skip: !existsSync(OWN_FILES) && 'needs /proc' }, async (t) => {
  const folder = await folderWith(t, { 'net.onnx': 'x' });
  const path = join(folder, 'net.onnx');
  await DISK.missing(path);
  assert.ok(!ownFiles().includes(path));
});
