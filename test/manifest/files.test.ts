import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { DISK } from '../../src/manifest/files.js';
import { folderWith } from './folder.js';

const OWN_FILES = '/proc/self/fd';

test('a file that a manifest refers to is there, or is described', async (t) => {
  const folder = await folderWith(t, { 'net.onnx': 'x' });
  assert.equal(await DISK.missing(join(folder, 'net.onnx')), undefined);
  assert.equal(await DISK.missing(folder), 'a folder');
  assert.equal(await DISK.missing(join(folder, 'other.onnx')), 'no such file');
});

test('no file stays open', { skip: !existsSync(OWN_FILES) && 'needs /proc' }, async (t) => {
  const folder = await folderWith(t, { 'net.onnx': 'x' });
  const before = readdirSync(OWN_FILES).length;
  for (let i = 0; i < 20; i++) await DISK.missing(join(folder, 'net.onnx'));
  assert.ok(readdirSync(OWN_FILES).length < before + 10);
});
