import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Command } from 'commander';
import { registerCompare } from '../../../../plugins/dlbricks/commands/compare.js';
import { comparisonSchema } from '../../../../plugins/dlbricks/compare/comparison-schema.js';
import type { BenchmarkAgent } from '../../../../src/agent/benchmark-agent.js';
import { createFakeAgent } from '../../../support/fake-agent.js';
import { readModel } from '../../../../src/onnx/read/read-model.js';
import { temporaryFolder } from '../../../store/temporary-folder.js';
import { loadedChain } from '../support/chain-model.js';
import { normalNumbers } from '../support/noise.js';
import { assertRefused } from '../../../rpc/support/refusal.js';
import { recordingHost, type RecordingHost } from './command-host.js';

const SIDES = ['agent=before:1', 'agent=after:1'] as const;

/** An agent with latencies of 10 ms times a factor, and a little noise. */
function agentWith(factor: () => number): BenchmarkAgent {
  const normal = normalNumbers(11);
  return createFakeAgent({
    latencyOf: () => 10 * factor() * Math.exp(0.002 * normal()),
    optimizedOf: (benchmark) => ({ benchmark, values: new Map(), costMs: 1 }),
  });
}

async function compare(
  after: BenchmarkAgent,
  options: readonly string[],
  sides: readonly [string, string] = SIDES,
): Promise<RecordingHost> {
  const before = agentWith(() => 1);
  const host = Object.assign(recordingHost(before), {
    connect: (address?: string) => Promise.resolve(address === 'after:1' ? after : before),
    readModel: (reference: string) => {
      return Promise.resolve(() => Promise.resolve(loadedChain(reference, 'Relu', 'Neg')));
    },
  });
  const program = new Command().exitOverride();
  registerCompare(program, host);
  await program.parseAsync(['compare', ...sides, ...options, '--', 'net'], { from: 'user' });
  return host;
}

describe('compare of two sides', () => {
  test('shows models and bricks with their changes, from both sides measured by turns', async (t) => {
    const json = join(await temporaryFolder(t), 'c.json');
    const host = await compare(
      agentWith(() => 1.1),
      ['--whole', '--rounds', '4', '--export-json', json],
    );
    const text = host.printed.join('\n');
    assert.match(text, /│ net +│ .* slower +│/);
    assert.match(text, /^4 rounds of agent=before:1 \(before\) and agent=after:1 \(after\) by turns$/m);
    assert.match(text, /^bricks that changed.* \(2 of 2\):$/m);
    const document = comparisonSchema.parse(JSON.parse(await readFile(json, 'utf8')));
    const [row] = document.models;
    assert.ok(Math.abs((row?.ratio ?? 0) - 1.1) < 0.01);
    assert.ok((row?.measured_ratio_low ?? 0) > 1 && (row?.measured_ratio_high ?? 2) < 1.2);
    assert.equal(document.rounds, 4);
    assert.equal(document.provenance?.protocol?.runs, 5);
  });

  test('warns of other processes that took the processors during the rounds of a side', async () => {
    const after = createFakeAgent({
      latencyOf: () => 10,
      optimizedOf: (benchmark) => ({ benchmark, values: new Map(), costMs: 1 }),
      conditionsOf: () => ({ wallMs: 1000, cores: 1, othersMs: 500 }),
    });
    const text = (await compare(after, ['--rounds', '2'])).printed.join('\n');
    const warning =
      /^warning: agent=after:1: (\d+) of \1 measurements were disturbed .*; stop them and measure them again$/m;
    assert.match(text, warning);
    assert.doesNotMatch(text, /agent=before:1: .*disturbed/);
  });

  test('fails above a limit only if a model is slower on a second occasion too', async () => {
    const gate = ['--rounds', '4', '--fail-above', '5%'];
    const always = await compare(
      agentWith(() => 1.1),
      gate,
    );
    assert.equal(always.exitCode, 4);
    assert.deepEqual(always.warned, [
      'note: slower by more than 5 %: net; measured once more to be sure',
      'slower by more than 5 %: net',
    ]);
    let asked = 0;
    // Two bricks and two calls in each of four rounds.
    const once = await compare(
      agentWith(() => (asked++ < 16 ? 1.1 : 1)),
      gate,
    );
    assert.equal(once.exitCode, 0);
    assert.match(
      once.warned.join('\n'),
      /^note: slower by more than 5 % the first time, but not the second time: net$/m,
    );
  });

  test('writes the kernels that differ as files that can be run, with the commands', async (t) => {
    const folder = join(await temporaryFolder(t), 'kernels');
    await compare(
      agentWith(() => 1.1),
      ['--rounds', '4', '--save-kernels', folder],
    );
    const files = (await readdir(folder)).sort();
    assert.equal(files.length, 3);
    const readme = await readFile(join(folder, 'README.md'), 'utf8');
    for (const file of files.filter((name) => name.endsWith('.onnx'))) {
      assert.ok(
        readme.includes(
          `mlmodelscope compare agent=before:1,optimization_level=disabled agent=after:1,optimization_level=disabled --whole -- ${file}`,
        ),
      );
      assert.equal((await readModel(join(folder, file))).graph.nodes.length, 1);
    }
  });

  test('refuses a folder for kernels that cannot be written before anything is measured', async (t) => {
    const file = join(await temporaryFolder(t), 'file');
    await writeFile(file, '');
    let asked = 0;
    const refused = compare(
      agentWith(() => ++asked),
      ['--rounds', '4', '--save-kernels', file],
    );
    await assertRefused(refused, 'usage', /README\.md cannot be written: a part of that path is a file/);
    assert.equal(asked, 0);
  });

  test('refuses a side that is none before anything is measured, and options of measuring for reports', async () => {
    const asked = compare(
      agentWith(() => 1),
      [],
      ['thread=1', 'default'],
    );
    await assertRefused(asked, 'usage', /^side thread=1: expected default/);
    const withoutModels = (...words: readonly string[]): Promise<unknown> => {
      const program = new Command().exitOverride();
      registerCompare(program, recordingHost(agentWith(() => 1)));
      return program.parseAsync(['compare', ...words], { from: 'user' });
    };
    await assertRefused(
      withoutModels('a.json', 'b.json', '--whole'),
      'usage',
      /^--whole is for measuring two sides; name models after --/,
    );
    await assertRefused(
      withoutModels('a.json', 'b.json', 'c.json'),
      'usage',
      /^neither a\.json nor b\.json is a side to measure .*; to compare several results, .* --baseline$/,
    );
    await assertRefused(
      withoutModels('threads=1', 'default'),
      'usage',
      /^threads=1 is to be measured: name models after --/,
    );
  });
});
