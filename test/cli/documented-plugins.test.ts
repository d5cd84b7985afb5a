import assert from 'node:assert/strict';
import { copyFile, mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { documentedCode, ROOT } from '../package/documented-code.js';
import type { Lifetime } from '../support/lifetime.js';
import { deadline, type Ending, workplace, type Workplace } from './support/command.js';
import { chain, FOUR_LAYERS, QUICK } from './support/tiny-models.js';
import { workplaceHere } from './support/workplace-here.js';

const PAGE = 'plugins.md';
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');

/** The sections with an example, whose blocks are one file; by the name of that file. */
const EXAMPLES = {
  own: 'A plugin of your own',
  measures: 'A plugin that measures',
  analysis: 'An analysis',
  command: 'A command',
} as const;

/** Compiles all examples where the package is installed. @returns the folder of their JavaScript */
async function compileExamples(t: Lifetime): Promise<string> {
  const place = await workplace(t);
  await mkdir(place.path('node_modules'));
  await symlink(ROOT, place.path('node_modules/dlbricks'));
  await place.write('package.json', '{ "type": "module" }');
  const files: string[] = [];
  for (const [name, heading] of Object.entries(EXAMPLES)) {
    const source = (await documentedCode(PAGE, heading, 'ts')).join('\n');
    assert.match(source, /export default plugin;\n$/, `the example of ${heading}`);
    files.push(await place.write(`${name}.ts`, source));
  }
  const flags = ['--module', 'nodenext', '--target', 'es2023', '--strict', '--skipLibCheck'];
  const types = ['--typeRoots', join(ROOT, 'node_modules/@types'), '--types', 'node'];
  const compiled = await place.startProgram(process.execPath, [TSC, ...flags, ...types, ...files]).ended;
  assert.equal(compiled.code, 0, compiled.stdout);
  return place.path();
}

describe('the examples of docs/plugins.md, in the configuration folder', { ...deadline, concurrency: 2 }, () => {
  const undone: (() => unknown)[] = [];
  let compiled = '';

  before(async () => {
    compiled = await compileExamples({ after: (undo) => void undone.unshift(undo) });
  });

  after(async () => {
    for (const undo of undone) await undo();
  });

  /** A configuration folder with the JavaScript of one example, and nothing else. */
  async function withExample(t: Lifetime, name: keyof typeof EXAMPLES): Promise<Workplace> {
    const place = await workplaceHere(t);
    await mkdir(place.path('config/plugins/example'), { recursive: true });
    await copyFile(join(compiled, `${name}.js`), place.path('config/plugins/example/index.js'));
    await place.write('config/plugins/example/package.json', '{ "type": "module" }');
    await place.write('config/config.yml', 'threads: 1\n');
    await place.write('net.onnx', chain(FOUR_LAYERS));
    return place;
  }

  function runIn(place: Workplace, ...args: readonly string[]): Promise<Ending> {
    return place.run(args, { env: { MLMODELSCOPE_CONFIG: place.path('config/config.yml') } });
  }

  it('count layers in an evaluation', async (t) => {
    const place = await withExample(t, 'own');
    const manifest = { dlspec: 'evaluation/v1', name: 'e', version: '1.0.0', plugin: 'depth', models: ['net.onnx'] };
    await place.write('depth.yml', JSON.stringify(manifest));
    const { stdout, stderr, code } = await runIn(place, 'evaluate', 'depth.yml', '--json');
    assert.equal(code, 0, stderr);
    assert.deepEqual(JSON.parse(stdout), { models: [{ model: 'net', layers: 4 }] });
  });

  it('time whole models, show them, and find stored measurements', async (t) => {
    const place = await withExample(t, 'measures');
    const manifest = {
      dlspec: 'evaluation/v1',
      name: 'e',
      version: '1.0.0',
      plugin: 'whole',
      models: ['net.onnx'],
      protocol: { warmup_runs: 1, runs: 3, min_runs: 1, time_budget_ms: 1000 },
      settings: { percentile: 99 },
    };
    await place.write('whole.yml', JSON.stringify(manifest));
    const first = await runIn(place, 'evaluate', 'whole.yml');
    assert.equal(first.code, 0, first.stderr);
    assert.match(first.stdout, /│ model │ latency \(ms\) │\n.*\n│ net +│ +[\d.]+ │/);
    assert.match(first.stderr, /^models to time: 1$/m);
    const again = await runIn(place, 'evaluate', 'whole.yml', '--json');
    assert.match(again.stderr, /^models to time: 0$/m);
    const { models } = JSON.parse(again.stdout) as { models: { model: string; latency_ms: number }[] };
    assert.ok(models[0]?.model === 'net' && models[0].latency_ms > 0);
  });

  it('compute a table of the store', async (t) => {
    const place = await withExample(t, 'analysis');
    const measured = await runIn(place, 'latency', 'net.onnx', ...QUICK);
    assert.equal(measured.code, 0, measured.stderr);
    const { stdout, stderr, code } = await runIn(place, 'analyze', 'history', 'counts', '--export-csv', '-');
    assert.equal(code, 0, stderr);
    assert.deepEqual(stdout.trim().split('\r\n'), ['model,count', 'net,1']);
  });

  it('add a command', async (t) => {
    const place = await withExample(t, 'command');
    const { stdout, stderr, code } = await runIn(place, 'layers', 'net.onnx');
    assert.deepEqual([stdout, code], ['net 4\n', 0], stderr);
  });
});

describe('docs/plugins.md', () => {
  it('has no other examples', async () => {
    const page = await readFile(join(ROOT, 'docs', PAGE), 'utf8');
    const run = await Promise.all(Object.values(EXAMPLES).map((heading) => documentedCode(PAGE, heading, 'ts')));
    assert.equal(page.match(/^```ts$/gm)?.length, run.flat().length);
  });

  it('describes each part of the plugin API, and names only what it has', async () => {
    const source = await readFile(join(ROOT, 'src/plugin-api.ts'), 'utf8');
    const [, section = ''] = (await readFile(join(ROOT, 'docs', PAGE), 'utf8')).split('\n## What the API has\n');
    const rows = [...section.matchAll(/^\| ([^|]+) \| ([^|]+) \|$/gm)].slice(1);
    const parts = [...source.matchAll(/^\/\/ (.*)$/gm)].map(([, part = '']) => part);
    assert.deepEqual(
      rows.map(([, part]) => part).filter((part) => part !== '---'),
      parts,
    );
    const lists = [...source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list = '']) => list.split(','));
    const exported = new Set(lists.map((each) => each.trim().split(' ').at(-1)));
    for (const [, name] of rows.flatMap(([row]) => [...row.matchAll(/`(\w+)`/g)])) {
      assert.ok(exported.has(name), name);
    }
  });

  it('leaves nothing in the plugin API that no plugin and no example uses', async () => {
    const source = await readFile(join(ROOT, 'src/plugin-api.ts'), 'utf8');
    const values = [...source.matchAll(/^export \{([^}]*)\}/gm)]
      .flatMap(([, list = '']) => list.split(','))
      .filter((each) => !each.includes('type '))
      .map((each) => each.trim().split(' ').at(-1) ?? '');
    const files = await readdir(join(ROOT, 'plugins'), { recursive: true });
    const sources = files.filter((file) => file.endsWith('.ts')).map((file) => join(ROOT, 'plugins', file));
    const page = await readFile(join(ROOT, 'docs', PAGE), 'utf8');
    const used = [...(await Promise.all(sources.map((file) => readFile(file, 'utf8')))), page].join('\n');
    const words = new Set(used.match(/\w+/g));
    assert.deepEqual(
      values.filter((name) => name !== '' && !words.has(name)),
      [],
    );
  });
});
