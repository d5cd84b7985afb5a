import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { deadline } from './support/command.js';
import { workplaceHere } from './support/workplace-here.js';

const PACKAGE = fileURLToPath(new URL('../../../package.json', import.meta.url));

const COMMANDS = [
  '',
  'dlbricks',
  'dlbricks run',
  'dlbricks validate',
  'dlbricks generate',
  'dlbricks advise',
  'dlbricks compose',
  'dlbricks import',
  'dlbricks layers',
  'dlbricks patterns',
  'dlbricks share',
  'dlbricks sweep',
  'compare',
  'agree',
  'reproduce',
  'serve',
  'agent',
  'plugin',
  'evaluate',
  'evaluations',
  'evaluations list',
  'evaluations show',
  'evaluations follow',
  'evaluations cancel',
  'analyze',
  'models',
  'models fetch',
  'report',
  'predict',
  'predict images',
  'predict urls',
  'predict dataset',
  'predict raw',
  'registry',
  'registry models',
  'registry agents',
  'zoo',
  'latency',
  'load',
  'store',
  'store info',
  'store list',
  'store prune',
  'store delete',
  'store export',
  'store import',
  'store sync',
  'queue',
  'queue list',
  'queue failed',
  'queue retry',
  'queue drop',
  'trace',
  'trace model',
  'trace list',
  'trace show',
  'trace export',
  'doctor',
  'machine',
  'completion',
  'version',
];

describe('help', { timeout: 600_000, concurrency: 2 }, () => {
  for (const command of COMMANDS) {
    it(`of mlmodelscope ${command} shows how it is used`, async (t) => {
      const words = command.split(' ').filter((word) => word !== '');
      const { stdout, stderr, code } = await (await workplaceHere(t)).run([...words, '--help']);
      assert.deepEqual({ stderr, code }, { stderr: '', code: 0 });
      assert(stdout.startsWith(`Usage: ${['mlmodelscope', ...words].join(' ')}`), stdout);
      assert.match(stdout, new RegExp(`^Example.*:\\n {2}mlmodelscope ${command}`, 'm'));
      assert.match(stdout, /\nExit codes: 0 done; 1 failed, without a result; 2 something that you gave is/);
      assert.doesNotMatch(stdout, /default: [[{]|default:\s+[[{]/, 'a default that cannot be typed');
      for (const line of stdout.split('\n')) assert(line.length <= 80, `too long to read: ${line}`);
    });
  }

  it('names every command that there is', async (t) => {
    const place = await workplaceHere(t);
    const subcommandsOf = async (...words: readonly string[]) => {
      const { stdout } = await place.run([...words, '--help']);
      const listed = stdout.slice(stdout.indexOf('\nCommands:'));
      return [...listed.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => [...words, name].join(' '));
    };
    const groups = ['dlbricks', 'evaluations', 'models', 'predict', 'queue', 'registry', 'store', 'trace'];
    const listed = await Promise.all([subcommandsOf(), ...groups.map((group) => subcommandsOf(group))]);
    const all = listed.flat().filter((name) => !/help|mlmodelscope/.test(name));
    assert.deepEqual(all.sort(), COMMANDS.filter((name) => name !== '').sort());
  });
});

describe('version', deadline, () => {
  it('names the platform, its plugins, the framework and Node', async (t) => {
    const { version } = JSON.parse(await readFile(PACKAGE, 'utf8')) as { version: string };
    const { stdout, stderr, code } = await (await workplaceHere(t)).run(['version']);
    assert.deepEqual({ stderr, code }, { stderr: '', code: 0 });
    const [platform, dlbricks, latency, load, xsp, framework, web, node] = stdout.split('\n');
    assert.deepEqual([platform, node], [`mlmodelscope ${version}`, `node ${process.versions.node}`]);
    assert.match(
      [dlbricks, latency, load, xsp].join('\n'),
      /^dlbricks [\d.]+\nlatency [\d.]+\nload [\d.]+\nxsp [\d.]+$/,
    );
    assert.match(`${framework}\n${web}`, /^onnxruntime \d+\.\d+\.\d+\nonnxruntime-web \d+\.\d+\.\d+\+v8\.\S+$/);
  });
});
