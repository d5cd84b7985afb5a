import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { unpack, type UnpackLimits } from '../../src/fetch/unpack.js';
import { folderWith } from '../manifest/folder.js';
import { type ArchiveEntry, tarOf, zipOf } from './support/archives.js';

const LIMITS: UnpackLimits = { maxBytes: 2 ** 30, signal: new AbortController().signal };

const PACKED: readonly (readonly [string, (entries: readonly ArchiveEntry[]) => Buffer])[] = [
  ['tar', tarOf],
  ['tar.gz', (entries) => gzipSync(tarOf(entries))],
  ['zip', zipOf],
];

/** Unpacks an archive in a folder of the test's own. */
async function unpacking(t: TestContext, archive: Buffer, limits: Partial<UnpackLimits> = {}) {
  const folder = await folderWith(t, { archive });
  const unpacked = unpack(join(folder, 'archive'), join(folder, 'unpacked'), { ...LIMITS, ...limits });
  return { folder, unpacked };
}

/** Asserts that an archive is refused with this reason and leaves no files behind. */
async function assertRefused(t: TestContext, archive: Buffer, message: RegExp, limits?: Partial<UnpackLimits>) {
  const { folder, unpacked } = await unpacking(t, archive, limits);
  await assert.rejects(unpacked, { code: 'model', message });
  assert.deepEqual(await readdir(folder), ['archive']);
}

for (const [format, pack] of PACKED) {
  describe(`a ${format} archive`, () => {
    test('is unpacked with its folders', async (t) => {
      const content = Buffer.alloc(100_000, 'weights of a model ');
      const { folder, unpacked } = await unpacking(
        t,
        pack([{ name: './net.onnx', content: 'graph' }, { name: 'data/weights.bin', content }, { name: 'empty' }]),
      );
      await unpacked;
      const read = (name: string): Promise<Buffer> => readFile(join(folder, 'unpacked', name));
      assert.equal(String(await read('net.onnx')), 'graph');
      assert.ok((await read('data/weights.bin')).equals(content));
      assert.equal((await read('empty')).length, 0);
    });

    const hostile: readonly (readonly [string, readonly ArchiveEntry[], RegExp])[] = [
      ['a path out of it', [{ name: '../out', content: 'x' }], /leads out of it|invalid relative path/],
      ['an absolute path', [{ name: '/tmp/out', content: 'x' }], /leads out of it|absolute path/],
      [
        'a path out of it by a detour',
        [{ name: 'a/../../out', content: 'x' }],
        /leads out of it|invalid relative path/,
      ],
      ['a link', [{ name: 'net.onnx', linkTo: '/etc/passwd' }], /"net\.onnx" in it is a link or device/],
      [
        'a link with a file below it',
        [
          { name: 'a', linkTo: '..' },
          { name: 'a/out', content: 'x' },
        ],
        /is a link or device/,
      ],
      [
        'a file twice',
        [
          { name: 'a', content: 'x' },
          { name: './a', content: 'y' },
        ],
        /is there twice/,
      ],
      ['too many entries', Array.from({ length: 10_001 }, (_, i) => ({ name: `${i}/` })), /more than 10000 entries/],
    ];
    for (const [what, entries, reason] of hostile) {
      test(`is refused with ${what}`, (t) => assertRefused(t, pack(entries), reason));
    }

    test('is refused when it is larger than the limit', async (t) => {
      const archive = pack([{ name: 'a', content: Buffer.alloc(10_000) }]);
      await assertRefused(t, archive, /unpacks to more than 9999 bytes/, { maxBytes: 9999 });
    });
  });
}

test('an archive that unpacks to hundreds of times its size is refused', async (t) => {
  const archive = gzipSync(tarOf([{ name: 'zeros', content: Buffer.alloc(64 * 2 ** 20) }]));
  await assertRefused(t, archive, /unpacks to more than 16777216 bytes|ratio/);
});

test('an archive is refused with a name that no file can have', async (t) => {
  await assertRefused(t, zipOf([{ name: 'a'.repeat(1000), content: 'x' }]), /the name "a+…" in it is too long/);
});

test('a file that is no archive is refused', async (t) => {
  await assertRefused(t, Buffer.from('<html>not found</html>'.repeat(100)), /cannot be read as tar, tar\.gz or zip/);
  const whole = gzipSync(tarOf([{ name: 'a', content: Buffer.alloc(5000, 'abcdefg') }]));
  await assertRefused(t, whole.subarray(0, whole.length - 30), /cannot be read as tar/);
});

test('a folder that cannot be written is an error of storage, with the reason of the operating system', async (t) => {
  const folder = await folderWith(t, { archive: tarOf([{ name: 'a', content: 'x' }]) });
  await assert.rejects(unpack(join(folder, 'archive'), join(folder, 'missing', 'unpacked'), LIMITS), {
    code: 'storage',
    message: /ENOENT.*; make room/,
  });
});

test('unpacking can be cancelled', async (t) => {
  const folder = await folderWith(t, {});
  await writeFile(join(folder, 'archive'), tarOf([{ name: 'a', content: 'x' }]));
  const limits = { ...LIMITS, signal: AbortSignal.abort() };
  await assert.rejects(unpack(join(folder, 'archive'), join(folder, 'unpacked'), limits), { code: 'cancelled' });
});
