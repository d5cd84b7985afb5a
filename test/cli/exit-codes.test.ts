import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Command } from 'commander';
import { EXIT_CODES, messageOf } from '../../src/base/errors.js';
import { EXIT_INTERRUPTED, EXIT_PARTIAL, EXIT_REFUSED } from '../../src/base/exit-codes.js';
import { createHost } from '../../src/cli/host.js';
import { OUTPUTS } from '../../src/cli/keep-inputs.js';
import { loadPlugins } from '../../src/cli/load-plugins.js';
import { addCommands, createProgram } from '../../src/cli/program.js';
import { deadline } from './support/command.js';
import { chain } from './support/tiny-models.js';
import { workplaceHere } from './support/workplace-here.js';

const NOBODY = ['--server', '127.0.0.1:1'];
const NO_BROKER = ['--queue', 'amqp://127.0.0.1:1', '--store', 'memory:'];
const NO_STORE = ['--store', 'no-store'];
const NO_ID = ['0123456789abcdef', '--store', 'memory:'];
const QUICK = ['--runs', '3', '--warmup', '0', '--quiet'];

/** For every command, what its exit code is for some arguments. */
const COMMANDS: Readonly<Record<string, readonly (readonly [args: readonly string[], code: number])[]>> = {
  'dlbricks run': [
    [['relu.onnx', ...QUICK], 0],
    [['mystery.onnx', ...QUICK], 3],
    [['none.onnx'], 2],
    [['relu.onnx', 'none.onnx', ...QUICK], 2],
  ],
  'dlbricks validate': [
    [['relu.onnx', 'mystery.onnx', ...QUICK], 3],
    [['none.onnx'], 2],
  ],
  'dlbricks sweep': [[['none.onnx'], 2]],
  'dlbricks share': [
    [['relu.onnx', 'mystery.onnx', '--store', 'memory:'], 3],
    [['none.onnx'], 2],
  ],
  'dlbricks generate': [[['none.onnx', '--output', 'suite'], 2]],
  'dlbricks layers': [[['none.onnx'], 2]],
  'dlbricks patterns': [[['none.onnx'], 2]],
  'dlbricks compose': [
    [['relu.onnx', '--system', 'abcd', '--store', 'memory:'], 2],
    [['none.onnx'], 2],
  ],
  'dlbricks advise': [
    [['mystery.onnx', 'mystery.onnx', ...QUICK], 1],
    [['none.onnx'], 2],
  ],
  compare: [
    [['none.json', 'none.json'], 2],
    [['default', 'threads=1', '--rounds', '2', '--quiet', '--', 'relu.onnx', 'mystery.onnx'], 3],
  ],
  agree: [[['none.onnx', 'none.onnx'], 2]],
  reproduce: [[['none.yml'], 2]],
  'dlbricks import': [[['none.json'], 2]],
  latency: [
    [['relu.onnx', ...QUICK], 0],
    [['mystery.onnx', ...QUICK], 3],
    [['none.onnx'], 2],
  ],
  load: [
    [['none.onnx'], 2],
    [['relu.onnx', '--scenario', 'server'], 2],
  ],
  serve: [[['--listen', 'localhost'], 2]],
  agent: [
    [['--listen', 'localhost'], 2],
    [['--models', 'no-folder'], 2],
  ],
  // A plugin waits for its server.
  plugin: [[['nonesuch', ...NOBODY], 2]],
  evaluate: [[['none.yml'], 2]],
  'evaluations list': [[NOBODY, 1]],
  'evaluations show': [[['0123abcd', ...NOBODY], 1]],
  'evaluations follow': [[['0123abcd', ...NOBODY], 1]],
  'evaluations cancel': [[['0123abcd', ...NOBODY], 1]],
  analyze: [
    [['latency', 'runs', '--store', 'memory:'], 0],
    [['latency', 'nonesuch'], 2],
  ],
  'predict images': [[['none.jpg', '--model', 'nonesuch'], 2]],
  'predict urls': [[['http://127.0.0.1:1/x.jpg', '--model', 'nonesuch'], 2]],
  'predict dataset': [[['none.yml', '--model', 'nonesuch'], 2]],
  'predict raw': [[['none.npy', '--model', 'nonesuch'], 2]],
  'registry models': [[NOBODY, 1]],
  'registry agents': [[NOBODY, 1]],
  'models fetch': [[['none.yml'], 2]],
  zoo: [[['nonesuch'], 2]],
  'store info': [
    [['--store', 'memory:'], 0],
    [NO_STORE, 2],
  ],
  'store list': [
    [['--store', 'memory:'], 0],
    [NO_STORE, 2],
  ],
  'store prune': [
    [['--store', 'memory:'], 2],
    [['--failed', ...NO_STORE], 2],
  ],
  'store delete': [
    [['--store', 'memory:'], 2],
    [['abcd', '--store', 'memory:'], 2],
  ],
  'store export': [
    [['out.jsonl', '--store', 'memory:'], 0],
    [['new-folder/out.jsonl', '--store', 'memory:'], 0],
  ],
  'store import': [[['none.jsonl', '--store', 'memory:'], 2]],
  'store sync': [[['--store', 'memory:'], 2]],
  'queue list': [[NO_BROKER, 1]],
  'queue failed': [[NO_BROKER.slice(0, 2), 1]],
  'queue retry': [[['all', ...NO_BROKER.slice(0, 2)], 1]],
  'queue drop': [[['all', ...NO_BROKER.slice(0, 2)], 1]],
  'trace model': [
    [['mystery.onnx', '--store', 'memory:', '--quiet'], 1],
    [['none.onnx'], 2],
  ],
  'trace list': [
    [['--store', 'memory:'], 0],
    [NO_STORE, 2],
  ],
  'trace show': [[NO_ID, 2]],
  'trace export': [[[...NO_ID, '--output', 'trace.json'], 2]],
  completion: [
    [['bash'], 0],
    [['cmd.exe'], 2],
  ],
  version: [[[], 0]],
  machine: [[['--threads', 'none'], 2]],
  doctor: [[['none.json'], 2]],
  report: [[['none.json', '-o', 'page.html'], 2]],
};

/** Options whose value is a file that a command reads. */
const INPUTS = [
  ...['tlsCert', 'tlsKey', 'tlsCa', 'tokenFile', 'accessFile'],
  ...['baseline', 'recipe', 'results', 'fromTraces', 'arrivals', 'generation'],
];

/** The names of all commands that do something, as they are typed. */
function leavesOf(command: Command, names: readonly string[] = []): readonly string[] {
  if (command.commands.length === 0) return [names.join(' ')];
  return command.commands.flatMap((child) => leavesOf(child, [...names, child.name()]));
}

function commandsOf(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(commandsOf)];
}

async function program(): Promise<Command> {
  const nothing = (): void => undefined;
  const streams = { out: nothing, err: nothing, errStream: process.stderr };
  const terminal = { ...streams, isInteractive: false, color: false, columns: { out: undefined, err: undefined } };
  const host = createHost(terminal, new AbortController().signal);
  const made = createProgram(host, terminal);
  await addCommands(made, undefined, host, () => loadPlugins({ paths: [], folder: 'no-folder', onWarning: nothing }));
  return made;
}

describe('exit codes', { ...deadline, concurrency: 2 }, () => {
  it('are listed here for every command', async () => {
    assert.deepEqual(Object.keys(COMMANDS).toSorted(), leavesOf(await program()).toSorted());
  });

  it('come with a message in plain words for every option with a wrong value', async () => {
    const options = commandsOf(await program()).flatMap((command) => command.options);
    const messages = options.flatMap(({ flags, parseArg }) => {
      return ['-1', 'abc', ''].flatMap((text) => {
        try {
          parseArg?.(text, undefined);
          return [];
        } catch (error) {
          return `${flags} '${text}': ${messageOf(error)}`;
        }
      });
    });
    assert.ok(messages.length > 100, `only ${messages.length} values are refused`);
    assert.deepEqual(
      messages.filter((message) => /Invalid|Too (small|big)|undefined|NaN/.test(message)),
      [],
    );
  });

  it('come before any work where an option would write to an input: each file is read or written', async () => {
    const options = commandsOf(await program()).flatMap((command) => command.options);
    const files = options.filter(({ flags }) => /<file/.test(flags)).map((option) => option.attributeName());
    assert.deepEqual([...new Set(files)].toSorted(), [...INPUTS, ...OUTPUTS].toSorted());
  });

  it('are all in the help, and no others are', async (t) => {
    const { stdout } = await (await workplaceHere(t)).run(['--help']);
    const [, list = ''] = /\nExit codes: ([\s\S]+)$/.exec(stdout) ?? [];
    const listed = [...list.matchAll(/(?:^|;\s)(\d+) /g)].map(([, code]) => Number(code));
    const used = [0, ...Object.values(EXIT_CODES), EXIT_PARTIAL, EXIT_REFUSED, EXIT_INTERRUPTED];
    assert.deepEqual(
      listed,
      [...new Set(used)].toSorted((a, b) => a - b),
    );
  });

  for (const [command, cases] of Object.entries(COMMANDS)) {
    it(`of ${command} are as the help says`, async (t) => {
      const place = await workplaceHere(t);
      await place.write('relu.onnx', chain(['Relu']));
      await place.write('mystery.onnx', chain(['Relu', 'no.runtime:Mystery']));
      const name = command.split(' ');
      for (const [args, code] of [...cases, [['--help'], 0], [['--no-such-option'], 2]] as const) {
        const ending = await place.run([...name, ...args]);
        assert.equal(ending.code, code, `${[...name, ...args].join(' ')}\n${ending.stderr}`);
      }
    });
  }
});
