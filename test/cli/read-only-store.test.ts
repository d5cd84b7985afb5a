import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { openEmbeddedStore } from '../../src/store/embedded/open.js';
import { sampleMeasurement } from '../store/sample-measurement.js';
import { deadline, workplace } from './support/command.js';
import { assertOneMessage } from './support/report.js';
import { chain, FOUR_LAYERS, LAYER_CUT, QUICK } from './support/tiny-models.js';
import { workplaceHere } from './support/workplace-here.js';

/** Every command that reads a store and writes nothing to it. */
const READING: readonly (readonly string[])[] = [
  ['dlbricks', 'compose', 'four.onnx', ...LAYER_CUT, ...QUICK],
  ['dlbricks', 'compose', '--from-store'],
  ['dlbricks', 'share', 'four.onnx', ...LAYER_CUT],
  ['analyze', 'latency', 'runs'],
  ['store', 'info'],
  ['store', 'list'],
  ['store', 'export', '-'],
  ['store', 'prune', '--failed', '--dry-run'],
  ['trace', 'list'],
  ['trace', 'show', 'latest'],
  ['trace', 'export', 'latest'],
];

describe('a store that is not there', deadline, () => {
  for (const args of READING) {
    it(`is an error for ${args.slice(0, 2).join(' ')}, and is not created`, async (t) => {
      const place = await workplaceHere(t);
      await place.write('four.onnx', chain(FOUR_LAYERS));
      const ending = await place.run([...args, '--store', 'missing']);
      assertOneMessage(ending);
      assert.match(ending.stderr, /^There is no store at .*missing: check --store/);
      assert.equal(ending.code, 2);
      assert.ok(!(await readdir(place.folder)).includes('missing'));
    });
  }

  it('is no error where none was named: nothing has been measured yet', async (t) => {
    const place = await workplaceHere(t);
    const env = { MLMODELSCOPE_STORE: undefined, XDG_DATA_HOME: place.path('data') };
    const ending = await place.run(['store', 'info'], { env });
    assert.deepEqual([ending.code, ending.stderr], [0, '']);
    assert.match(ending.stdout, /^measurements: 0/m);
    assert.ok(!(await readdir(place.folder)).includes('data'));
  });
});

/** The user `nobody`, which has no rights. */
const NOBODY = 65_534;

/** A store that the commands of `run` may read and not change. */
async function readOnlyStore(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'read-only-store-'));
  t.after(() => chmod(folder, 0o700).then(() => rm(folder, { recursive: true })));
  const place = await workplace(t);
  await place.write('four.onnx', chain(FOUR_LAYERS));
  const store = await openEmbeddedStore(folder, {});
  for (const index of [1, 2, 3]) await store.putMeasurement(sampleMeasurement(index));
  await store.close();
  for (const folder of ['tmp', 'cache']) {
    await mkdir(place.path(folder), { recursive: true });
    await chmod(place.path(folder), 0o777);
  }
  for (const name of await readdir(folder)) await chmod(join(folder, name), 0o444);
  await chmod(folder, 0o555);
  await chmod(place.folder, 0o755);
  // Root may write anywhere, so another user has to try.
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const env = { TMPDIR: place.path('tmp'), MLMODELSCOPE_STORE: folder };
  const run = (args: readonly string[]) => place.start(args, { ...user, env }).ended;
  return { place, run };
}

describe('a store that cannot be written to', { ...deadline, concurrency: 2 }, () => {
  it('is read through a copy that is removed after the command', async (t) => {
    const { place, run } = await readOnlyStore(t);
    const { stdout, stderr, code } = await run(['store', 'list']);
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(stdout.match(/ ms /g)?.length, 3);
    assert.deepEqual(await readdir(place.path('tmp')), []);
  });

  it('serves compose', async (t) => {
    const { run } = await readOnlyStore(t);
    const { stdout, code } = await run(['dlbricks', 'compose', 'four.onnx', ...LAYER_CUT, ...QUICK]);
    assert.equal(code, 3);
    assert.match(stdout, /four/);
  });

  it('is an error for commands that write', async (t) => {
    const { run } = await readOnlyStore(t);
    for (const args of [
      ['store', 'prune', '--system', '4d7170fa'],
      ['dlbricks', 'validate', 'four.onnx', ...LAYER_CUT, ...QUICK],
    ]) {
      const ending = await run(args);
      assertOneMessage(ending);
      assert.match(ending.stderr, /this user may not read or write there/);
      assert.equal(ending.code, 1);
    }
  });
});
