import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { describe, it, type TestContext } from 'node:test';
import { openEmbeddedStore } from '../../src/store/embedded/open.js';
import { sampleMeasurement } from '../store/sample-measurement.js';
import { deadline, workplace } from './support/command.js';
import { assertOneMessage, reportIn } from './support/report.js';
import { chain, LAYER_CUT, QUICK } from './support/tiny-models.js';
import { workplaceHere } from './support/workplace-here.js';

/** A user with this configuration file, and with nothing in the environment. */
async function configured(t: TestContext, text: string) {
  const place = await workplaceHere(t);
  await mkdir(place.path('config/mlmodelscope'), { recursive: true });
  await place.write('config/mlmodelscope/config.yml', text);
  const base = { XDG_CONFIG_HOME: place.path('config'), MLMODELSCOPE_STORE: undefined };
  const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    place.run(args, { env: { ...base, ...env } });
  return { place, run };
}

describe('the configuration file', { ...deadline, concurrency: 2 }, () => {
  it('says where the store is, relative to itself; the environment and options win', async (t) => {
    const { place, run } = await configured(t, 'store: kept\n');
    const store = await openEmbeddedStore(place.path('config/mlmodelscope/kept'), {});
    await store.putMeasurement(sampleMeasurement(1));
    await store.close();
    assert.match((await run(['store', 'info'])).stdout, /^measurements: 1, /m);
    assert.match((await run(['store', 'info'], { MLMODELSCOPE_STORE: 'memory:' })).stdout, /^measurements: 0, /m);
    assert.match((await run(['store', 'info', '--store', 'memory:'])).stdout, /^measurements: 0, /m);
  });

  it('sets the threads, the server and the file of the token', async (t) => {
    const { place, run } = await configured(t, 'threads: 2\nserver: 127.0.0.1:1\ntoken_file: token\n');
    const model = await place.write('model.onnx', chain(['Relu']));
    const args = ['dlbricks', 'validate', model, ...LAYER_CUT, ...QUICK, '--store', 'memory:', '--export-json', '-'];
    const noToken = await run(args);
    assert.match(noToken.stderr, /--token-file .*config.mlmodelscope.token: expected a file, found no such file/);
    await place.write('config/mlmodelscope/token', 'a token that is long enough'.replaceAll(' ', '-'));
    assert.equal(reportIn(await run(args)).system.threads, 2);
    assert.equal(reportIn(await run([...args, '--threads', '1'])).system.threads, 1);
    assert.match((await run(['evaluations', 'list'])).stderr, /the server at 127\.0\.0\.1:1 does not answer/);
    const other = await run(['evaluations', 'list'], { MLMODELSCOPE_SERVER: '127.0.0.1:2' });
    assert.match(other.stderr, /the server at 127\.0\.0\.1:2 does not answer/);
  });

  it('that is wrong gives one message with the place', async (t) => {
    const { run } = await configured(t, 'stroe: kept\n');
    const ending = await run(['store', 'info']);
    assertOneMessage(ending);
    assert.match(ending.stderr, /config\.yml:1:1: stroe: .*did you mean "?store/);
    assert.equal(ending.code, 2);
  });

  it('that is wrong keeps nobody from reading help and the version', async (t) => {
    const { run } = await configured(t, 'threads: [1\n');
    for (const args of [['--help'], ['latency', '--help'], ['help', 'latency'], ['--version']]) {
      const { stdout, stderr, code } = await run(args);
      assert.match(stdout, /^(Usage: mlmodelscope|\d+\.\d+\.\d+$)/m);
      assert.deepEqual([stderr, code], ['', 0]);
    }
  });

  it('may have no keys', async (t) => {
    for (const text of ['', '# threads: 2\n\n  # store: kept\n']) {
      const { run } = await configured(t, text);
      const { stdout, stderr, code } = await run(['store', 'info', '--store', 'memory:']);
      assert.match(stdout, /^measurements: 0, /m);
      assert.deepEqual([stderr, code], ['', 0]);
    }
  });

  it('that is named but missing is an error', async (t) => {
    const place = await workplaceHere(t);
    const ending = await place.run(['version'], { env: { MLMODELSCOPE_CONFIG: 'none.yml' } });
    assert.match(ending.stderr, /none\.yml: expected a configuration file, found no such file/);
    assert.equal(ending.code, 2);
  });
});

describe('the environment', { ...deadline, concurrency: 2 }, () => {
  it('that has a wrong address of traces ends a command before it measures', async (t) => {
    const place = await workplaceHere(t);
    const ending = await place.run(['latency', 'zoo:alexnet'], { env: { MLMODELSCOPE_TRACE_URL_TEMPLATE: 'jaeger' } });
    assertOneMessage(ending);
    assert.match(ending.stderr, /^MLMODELSCOPE_TRACE_URL_TEMPLATE: expected a URL such as/);
    assert.equal(ending.code, 2);
    assert.equal(existsSync(place.store), false);
  });

  it('is refused where it names no number of threads', async (t) => {
    const ending = await (
      await workplaceHere(t)
    ).run(['latency', 'zoo:alexnet'], { env: { MLMODELSCOPE_THREADS: 'many' } });
    assertOneMessage(ending);
    assert.match(ending.stderr, /^MLMODELSCOPE_THREADS: expected a whole number from 1 to 1024, found "many"/);
    assert.equal(ending.code, 2);
  });

  it('without a place for temporary folders ends a command', { skip: process.platform !== 'linux' }, async (t) => {
    const place = await workplace(t);
    const model = await place.write('net.onnx', chain(['Relu', 'Tanh']));
    const { stderr, code } = await place.run(['latency', model, ...QUICK], { env: { TMPDIR: '/proc/none' } });
    assert.match(stderr, /no folder can be made for the worker process: ENOENT.*set TMPDIR to another folder$/m);
    assert.equal(code, 1);
  });

  it('with few open files says which limit it is', { skip: process.platform === 'win32' }, async (t) => {
    const through = ['sh', '-c', 'ulimit -n 64; exec "$@"', 'sh'];
    const ending = await (await workplace(t)).run(['latency', 'zoo:alexnet'], { through });
    assertOneMessage(ending);
    assert.match(ending.stderr, /^EMFILE: too many open files.*; allow more open files \(ulimit -n\)$/m);
    assert.equal(ending.code, 1);
  });
});
