import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { Command } from 'commander';
import { registerAdvise } from '../../../../plugins/dlbricks/commands/advise.js';
import type { BenchmarkAgent } from '../../../../src/agent/benchmark-agent.js';
import { PlatformError } from '../../../../src/base/errors.js';
import { assertRefused } from '../../../rpc/support/refusal.js';
import { chain } from '../../../cli/support/tiny-models.js';
import { temporaryFolder } from '../../../store/temporary-folder.js';
import { createFakeAgent } from '../../../support/fake-agent.js';
import { recordingHost } from './command-host.js';

test('an agent that ends costs the models after it, and its error is that of the command', async (t) => {
  const folder = await temporaryFolder(t);
  const operators = { first: ['Relu'], second: ['Sigmoid'], third: ['Sigmoid', 'Tanh'] };
  const paths = Object.keys(operators).map((name) => join(folder, `${name}.onnx`));
  for (const [index, each] of Object.values(operators).entries()) await writeFile(paths[index] ?? '', chain(each));
  let askedInVain = 0;
  const agent: BenchmarkAgent = {
    ...createFakeAgent({ latencyOf: () => 1 }),
    optimize: (benchmark) => {
      if (!Buffer.from(benchmark.model).includes('Sigmoid')) {
        return Promise.resolve({ benchmark, values: new Map(), costMs: 1 });
      }
      askedInVain++;
      return Promise.reject(new PlatformError('unavailable', 'the agent does not answer'));
    },
  };
  const host = recordingHost(agent);
  const program = new Command().exitOverride();
  registerAdvise(program, host);
  const advising = program.parseAsync(['advise', ...paths, '--threads', '1', '--rounds', '3'], { from: 'user' });
  await assertRefused(advising, 'unavailable', /^the agent does not answer$/);
  assert.equal(askedInVain, 1);
  assert.match(host.printed.join(''), /first/);
});

test('an interruption says that everything is kept, and nothing else', async (t) => {
  const path = join(await temporaryFolder(t), 'net.onnx');
  await writeFile(path, chain(['Relu']));
  const interrupt = new AbortController();
  const agent: BenchmarkAgent = {
    ...createFakeAgent({ latencyOf: () => 1 }),
    optimize: () => {
      interrupt.abort();
      return Promise.reject(new PlatformError('cancelled', 'cancelled'));
    },
  };
  const host = recordingHost(agent);
  const program = new Command().exitOverride();
  registerAdvise(program, { ...host, signal: interrupt.signal });
  await program.parseAsync(['advise', path, '--threads', '1'], { from: 'user' });
  assert.deepEqual(
    host.warned.filter((line) => !line.startsWith('note: ')),
    ['interrupted; everything measured so far is kept, and the same command continues from here'],
  );
});
