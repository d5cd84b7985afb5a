import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { type Ending, type Running, workplace, type Workplace } from '../cli/support/command.js';
import { chain, FOUR_LAYERS } from '../cli/support/tiny-models.js';
import { documentedCode, ROOT } from './documented-code.js';

/** Only against hanging. Installing takes most of the time. */
const deadline = { timeout: 600_000 };

/** Error codes of npm without a registry. */
const NO_REGISTRY = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENOTCACHED/;

const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');

/** Runs npm as the user who runs the tests, whose settings name the registry. */
async function npm(place: Workplace, args: readonly string[]): Promise<Ending> {
  const env = { HOME: process.env['HOME'], ONNXRUNTIME_NODE_INSTALL: 'skip' };
  return place.startProgram('npm', args, { env }).ended;
}

/** A user's folder beside the installed package. */
interface Consumer {
  /** Has the documented code as JavaScript: the plugin index.js, the clients client.js and asker.js. */
  readonly folder: string;
  write(name: string, content: string | Uint8Array): Promise<string>;
  /** Starts the installed command. */
  start(args: readonly string[], env?: Readonly<Record<string, string>>): Running;
  /** Starts a file of the folder. */
  startScript(script: string, args: readonly string[]): Running;
}

/** The code of docs/plugins.md and docs/evaluations.md, by the files that a user puts it into. */
async function documentedSources(): Promise<Readonly<Record<string, string>>> {
  const [client = '', asker = ''] = await documentedCode('evaluations.md', 'A client in TypeScript', 'ts');
  const plugin = await onlyBlock('plugins.md', 'A plugin of your own', 'ts');
  return { 'index.ts': plugin, 'client.ts': client, 'asker.ts': asker };
}

/** The only fenced block of a language in a section. */
async function onlyBlock(page: string, heading: string, language: string): Promise<string> {
  const blocks = await documentedCode(page, heading, language);
  assert.equal(blocks.length, 1, `${language} blocks of ${heading} in ${page}`);
  return blocks[0] ?? '';
}

describe('the package, packed and installed into an empty folder', deadline, () => {
  const undone: (() => unknown)[] = [];
  let installed: Workplace | undefined;
  let folder = '';
  let unreachable = false;

  before(async () => {
    const place = await workplace({ after: (undo) => void undone.unshift(undo) });
    // Without `prepack`: it deletes and builds dist/, which other tests are running.
    const packed = await npm(place, ['pack', ROOT, '--ignore-scripts']);
    assert.equal(packed.code, 0, packed.stderr);
    const tarball = packed.stdout.trim().split('\n').at(-1) ?? '';
    await place.write('package.json', await onlyBlock('plugins.md', 'A plugin of your own', 'json'));
    const { code, stderr } = await npm(place, ['install', tarball, '--prefer-offline', '--no-audit', '--no-fund']);
    unreachable = code !== 0 && NO_REGISTRY.test(stderr);
    installed = place;
    if (unreachable) return;
    assert.equal(code, 0, stderr);
    folder = place.path('consumer');
    await mkdir(folder);
    await copyFile(place.path('package.json'), join(folder, 'package.json'));
    const sources = Object.entries(await documentedSources());
    for (const [name, source] of sources) await writeFile(join(folder, name), source);
    const files = sources.map(([name]) => join(folder, name));
    // The package's types are checked, the compiler's own are not.
    const flags = '--module nodenext --target es2023 --types node --strict --skipDefaultLibCheck'.split(' ');
    const compiled = await place.startProgram(process.execPath, [TSC, ...flags, ...files]).ended;
    assert.equal(compiled.code, 0, compiled.stdout);
  });

  after(async () => {
    for (const undo of undone) await undo();
  });

  /** The user's folder, and a place for the files of the test; undefined where there is no registry. */
  async function consumer(t: TestContext): Promise<Consumer | undefined> {
    const home = installed;
    assert.ok(home !== undefined);
    if (unreachable) {
      t.skip('npm reaches no registry');
      return undefined;
    }
    const place = await workplace(t);
    const main = home.path('node_modules/.bin/mlmodelscope');
    return {
      folder,
      write: (name, content) => place.write(name, content),
      start: (args, env = {}) => place.startProgram(main, args, { env }),
      startScript: (script, args) => place.startProgram(process.execPath, [join(folder, script), ...args]),
    };
  }

  it('runs the plugin of docs/plugins.md, compiled against its types', async (t) => {
    const place = await consumer(t);
    if (place === undefined) return;
    const manifest = await place.write('depth.yml', await onlyBlock('plugins.md', 'A plugin of your own', 'yaml'));
    const { stdout, stderr, code } = await place.start(['--plugin', place.folder, 'evaluate', manifest, '--json'])
      .ended;
    assert.equal(code, 0, stderr);
    assert.match(stderr, /squeezenet1\.1 is deep/);
    // The layers that README.md shows for squeezenet1.1.
    assert.deepEqual(JSON.parse(stdout), { models: [{ model: 'squeezenet1.1', layers: 65 }] });
  });

  it('runs the clients of docs/evaluations.md, compiled against its types', async (t) => {
    const place = await consumer(t);
    if (place === undefined) return;
    const server = place.start(['serve', '--listen', '127.0.0.1:0']);
    const [, address = ''] = await server.said(/server listening on (127\.0\.0\.1:\d+)/);
    const agent = place.start(['agent', '--listen', '127.0.0.1:0', '--server', address]);
    const [, agentAddress = ''] = await agent.said(/agent listening on (127\.0\.0\.1:\d+)/);
    await agent.said(/registered with/);

    await place.write('net.onnx', chain(FOUR_LAYERS));
    const manifest = await place.write(
      'tiny.yml',
      'dlspec: evaluation/v1\nname: tiny\nversion: 1.0.0\nplugin: latency\nmodels: [net.onnx]\n' +
        'settings: { remeasure: none }\n',
    );
    const submitted = await place.startScript('client.js', [address, manifest]).ended;
    assert.equal(submitted.code, 0, submitted.stderr);
    assert.match(submitted.stderr, /^net: \d+(\.\d+)? ms$/m);
    const { models } = JSON.parse(submitted.stdout) as { readonly models: readonly { readonly model: string }[] };
    assert.deepEqual(
      models.map(({ model }) => model),
      ['net'],
    );
    const asked = await place.startScript('asker.js', [agentAddress]).ended;
    assert.match(asked.stdout, /, onnxruntime \d+\.\d+\.\d+\n$/);
  });

  it('times the kernels of a model without optional packages', async (t) => {
    const place = await consumer(t);
    if (place === undefined) return;
    const model = await place.write('net.onnx', chain(FOUR_LAYERS));
    const { stdout, stderr, code } = await place.start(['trace', 'model', model, '--runs', '4']).ended;
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^note: the store gets no trace of the runs: tracing needs packages .* run: npm install @/m);
    assert.match(stdout, /│ Relu +│ +2 │/);
  });

  it('prints how to install optional packages', async (t) => {
    const place = await consumer(t);
    if (place === undefined) return;
    const web = await place.start(['dlbricks', 'run', 'zoo:squeezenet1.1', '--framework', 'onnxruntime-web']).ended;
    assert.equal(web.code, 1);
    assert.match(web.stderr, /^the framework onnxruntime-web needs a package .* run: npm install onnxruntime-web$/m);
    const traced = await place.start(['version'], { OTEL_TRACES_EXPORTER: 'console' }).ended;
    assert.equal(traced.code, 1);
    assert.match(traced.stderr, /^tracing needs packages .* run: npm install @opentelemetry\/api /m);
    const { stdout, code } = await place.start(['version']).ended;
    assert.equal(code, 0);
    assert.match(stdout, /^onnxruntime \d+\.\d+\.\d+\nonnxruntime-web is not installed$/m);
  });

  it('contains the built code, and none of the tests', async (t) => {
    if ((await consumer(t)) === undefined || installed === undefined) return;
    const whole = installed.path('node_modules/dlbricks');
    for (const part of ['lib/src/bin/main.js', 'lib/plugins/latency/index.js', 'manifests', 'docs', 'CHANGELOG.md']) {
      assert.ok(existsSync(join(whole, part)), part);
    }
    for (const part of ['dist/test', 'dist/bench', 'src', 'test']) assert.ok(!existsSync(join(whole, part)), part);
  });
});
