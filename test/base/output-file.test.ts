import assert from 'node:assert/strict';
import { lstat, readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { requireWritable, writeOutput, writeResult } from '../../src/base/output-file.js';
import { assertRefused, refusal } from '../rpc/support/refusal.js';
import { temporaryFolder } from '../store/temporary-folder.js';

describe('a result that is written to a file', () => {
  it('replaces an older one, and leaves nothing beside it', async (t) => {
    const folder = await temporaryFolder(t);
    const file = join(folder, 'report.json');
    await writeFile(file, 'x'.repeat(1000));
    await writeResult(file, 'new');
    assert.equal(await readFile(file, 'utf8'), 'new');
    assert.deepEqual(await readdir(folder), ['report.json']);
  });

  it('is written through a link, which stays a link', async (t) => {
    const folder = await temporaryFolder(t);
    const file = join(folder, 'file');
    const link = join(folder, 'link');
    await writeFile(file, 'an older and longer text');
    await symlink(file, link);
    await writeResult(link, 'new');
    assert.equal(await readFile(file, 'utf8'), 'new');
    assert((await lstat(link)).isSymbolicLink());
  });

  it('keeps a file that a process of this machine is writing, also with a wrong clock', async (t) => {
    const folder = await temporaryFolder(t);
    const writing = `.other.json.${hostname().replace(/[^A-Za-z0-9-]/g, '-')}.${process.pid}.00000000.tmp`;
    await writeFile(join(folder, writing), '');
    await utimes(join(folder, writing), 0, 0);
    await writeResult(join(folder, 'report.json'), 'new');
    assert.deepEqual((await readdir(folder)).sort(), [writing, 'report.json']);
  });

  it('is a storage error that names the file where its folder is missing', async (t) => {
    const file = join(await temporaryFolder(t), 'missing', 'report.json');
    await assertRefused(writeResult(file, ''), 'storage', /report\.json cannot be written: .*name another file/);
    await requireWritable(file);
    await writeResult(file, 'now');
    assert.equal(await readFile(file, 'utf8'), 'now');
  });
});

describe('a place where no result can be written', () => {
  it('is a usage error where a part of the path is a file', async (t) => {
    const file = join(await temporaryFolder(t), 'file');
    await writeFile(file, '');
    const expected = refusal(
      'usage',
      /file.below.x\.svg cannot be written: a part of that path is a file; name another/,
    );
    await assert.rejects(requireWritable(join(file, 'below', 'x.svg')), expected);
    await assert.rejects(writeResult(join(file, 'below', 'x.svg'), ''), expected);
  });

  it('asks for room only where that helps', async () => {
    // The system makes no files in this folder, for no user.
    const expected = refusal('storage', /cannot be written: (?!.*room).*; name another file$/);
    await assert.rejects(requireWritable('/proc/none/x.svg'), expected);
  });
});

describe('lines that are written as they come', () => {
  it('are all written, also very long ones', async (t) => {
    const file = join(await temporaryFolder(t), 'lines');
    async function* lines() {
      for (let i = 0; i < 1000; i++) yield await Promise.resolve(`${i} ${'ä'.repeat(i)}\n`);
    }
    await writeOutput(file, lines());
    const expected = Array.from({ length: 1000 }, (_, i) => `${i} ${'ä'.repeat(i)}\n`).join('');
    assert.equal(await readFile(file, 'utf8'), expected);
  });

  it('leave the older file unchanged where they end with an error', async (t) => {
    const folder = await temporaryFolder(t);
    const file = join(folder, 'lines');
    await writeFile(file, 'older');
    async function* lines() {
      yield await Promise.resolve('x'.repeat(1_000_000));
      throw new Error('the store is gone');
    }
    await assert.rejects(writeOutput(file, lines()), /the store is gone/);
    assert.equal(await readFile(file, 'utf8'), 'older');
    assert.deepEqual(await readdir(folder), ['lines']);
  });
});
