import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { assertRefused } from '../rpc/support/refusal.js';
import { encodeModel } from '../../src/onnx/write/write-model.js';
import { ensureZooModel } from '../../src/zoo/cache.js';
import { defaultCacheDir } from '../../src/zoo/cache-folder.js';
import { buildZooModel, ZOO_VERSION } from '../../src/zoo/zoo.js';

const SMALL = 'squeezenet1.1';
const SMALL_BYTES = encodeModel(buildZooModel(SMALL)).byteLength;
const PROCESS = fileURLToPath(new URL('./ensure-model.process.js', import.meta.url));

describe('the cache of zoo models', { timeout: 300_000 }, () => {
  let root = '';
  let cacheDir = '';
  let folder = '';
  let tests = 0;

  before(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'zoo-cache-'));
  });
  beforeEach(() => {
    cacheDir = path.join(root, String(tests++));
    folder = path.join(cacheDir, 'zoo', `v${ZOO_VERSION}`);
  });
  after(() => rm(root, { recursive: true, force: true }));

  function start(args: readonly string[], shell?: string): ChildProcess {
    const command = [process.execPath, PROCESS, ...args];
    const stdio = ['ignore', 'pipe', 'inherit'] as const;
    return shell === undefined
      ? spawn(process.execPath, command.slice(1), { stdio: [...stdio] })
      : spawn('sh', ['-c', `${shell}; exec "$0" "$@"`, ...command], { stdio: [...stdio] });
  }

  async function result(child: ChildProcess): Promise<{ file?: string; code?: string; message?: string }> {
    let text = '';
    child.stdout?.on('data', (data: Buffer) => (text += data.toString()));
    await once(child, 'close');
    return JSON.parse(text) as { file?: string };
  }

  test('is in the folder that MLMODELSCOPE_CACHE names, else in the user cache', () => {
    assert.equal(defaultCacheDir({ MLMODELSCOPE_CACHE: root }), root);
    const byDefault = defaultCacheDir({});
    assert.ok(byDefault.includes('mlmodelscope') && path.isAbsolute(byDefault), byDefault);
    assert.equal(defaultCacheDir({ MLMODELSCOPE_CACHE: '' }), byDefault);
    assert.notEqual(byDefault, homedir());
  });

  test('a model is made once, under the version of the zoo', async () => {
    const file = await ensureZooModel(SMALL, { cacheDir });
    assert.equal(file, path.join(folder, `${SMALL}.onnx`));
    const made = await stat(file);
    assert.equal(made.size, SMALL_BYTES);
    assert.equal(await ensureZooModel(SMALL, { cacheDir }), file);
    assert.equal((await stat(file)).mtimeMs, made.mtimeMs);
    assert.deepEqual(await readdir(folder), [`${SMALL}.onnx`]);
  });

  test('is for its owner only', { skip: process.platform === 'win32' }, async () => {
    await ensureZooModel(SMALL, { cacheDir });
    for (const made of [cacheDir, folder]) assert.equal((await stat(made)).mode & 0o077, 0);
  });

  test('the same model has the same bytes everywhere', async () => {
    const digest = async (dir: string): Promise<string> =>
      createHash('sha256')
        .update(await readFile(await ensureZooModel(SMALL, { cacheDir: dir })))
        .digest('hex');
    assert.equal(await digest(path.join(cacheDir, 'a')), await digest(path.join(cacheDir, 'b')));
  });

  test('progress grows to the total, and the event loop runs meanwhile', async () => {
    const seen: number[] = [];
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    await ensureZooModel('resnet18', {
      cacheDir,
      onProgress: (bytes, total) => {
        assert.ok(bytes <= total);
        seen.push(bytes);
      },
    });
    clearInterval(timer);
    assert.deepEqual(
      seen,
      seen.toSorted((a, b) => a - b),
    );
    assert.equal(seen.at(-1), encodeModel(buildZooModel('resnet18')).byteLength);
    assert.ok(ticks > 0);
  });

  test('a truncated file is made again', async () => {
    const file = await ensureZooModel(SMALL, { cacheDir });
    await truncate(file, 1000);
    await ensureZooModel(SMALL, { cacheDir });
    assert.equal((await stat(file)).size, SMALL_BYTES);
  });

  test('cancelling leaves nothing behind', async () => {
    const controller = new AbortController();
    await assertRefused(
      ensureZooModel('resnet18', { cacheDir, signal: controller.signal, onProgress: () => controller.abort() }),
      'cancelled',
    );
    assert.deepEqual(await readdir(folder), []);
  });

  test('a killed process leaves no half model, and the next one cleans up', async () => {
    const child = start([SMALL, cacheDir, 'stall']);
    assert.ok(child.stdout !== null);
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'close');
    const [left, ...others] = await readdir(folder);
    assert.match(left ?? '', /\.tmp$/);
    assert.deepEqual(others, []);
    await ensureZooModel(SMALL, { cacheDir });
    assert.deepEqual(await readdir(folder), [`${SMALL}.onnx`]);
  });

  test('processes that make the same model at the same time all get it', async () => {
    const results = await Promise.all([1, 2, 3].map(() => result(start([SMALL, cacheDir]))));
    for (const { file } of results) assert.equal(file, path.join(folder, `${SMALL}.onnx`));
    assert.equal((await stat(path.join(folder, `${SMALL}.onnx`))).size, SMALL_BYTES);
    assert.deepEqual(await readdir(folder), [`${SMALL}.onnx`]);
  });

  test('files that others are writing stay, files without a write for an hour are removed', async () => {
    await ensureZooModel(SMALL, { cacheDir });
    const alive = `.x.onnx.another-host.1.00000000.tmp`;
    const abandoned = `.x.onnx.another-host.2.00000000.tmp`;
    const unrelated = 'notes.tmp';
    const longAgo = new Date(Date.now() - 2 * 60 * 60 * 1000);
    for (const name of [alive, abandoned, unrelated]) await writeFile(path.join(folder, name), '');
    for (const name of [abandoned, unrelated]) await utimes(path.join(folder, name), longAgo, longAgo);
    await ensureZooModel('mobilenet_v2', { cacheDir });
    assert.deepEqual((await readdir(folder)).sort(), [alive, 'mobilenet_v2.onnx', unrelated, `${SMALL}.onnx`].sort());
  });

  const noLimit = process.platform === 'win32' && 'there is no limit on file sizes to set';
  test('a limit on file sizes is a storage error, and the temporary file is removed', { skip: noLimit }, async () => {
    const { code, message } = await result(start([SMALL, cacheDir], 'ulimit -f 1000'));
    assert.equal(code, 'storage');
    assert.match(message ?? '', /zoo:squeezenet1\.1 \(5 MB\).*limit on file sizes.*MLMODELSCOPE_CACHE/s);
    assert.deepEqual(await readdir(folder), []);
  });

  test('a file in place of the folder is a storage error that says what to do', async () => {
    await writeFile(cacheDir, '');
    await assertRefused(ensureZooModel(SMALL, { cacheDir }), 'storage', /MLMODELSCOPE_CACHE/);
  });

  test('an unknown model makes no folder', async () => {
    await assertRefused(ensureZooModel('../escape', { cacheDir }), 'not_found');
    await assert.rejects(readdir(cacheDir));
  });
});
