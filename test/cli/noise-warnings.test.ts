import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Command } from 'commander';
import { registerAdvise } from '../../plugins/dlbricks/commands/advise.js';
import { registerTraceModel } from '../../src/cli/commands/trace-model.js';
import type { CommandHost } from '../../src/evaluation/plugin.js';
import { loadedChain } from '../plugins/dlbricks/support/chain-model.js';
import { recordingHost } from '../plugins/dlbricks/commands/command-host.js';
import { createFakeAgent } from '../support/fake-agent.js';

/** Others have a quarter of the fake agent's four cores. */
const BUSY = { wallMs: 1000, cores: 4, othersMs: 1000 };

const KERNEL = {
  ...{
    sequenceIndex: '0',
    name: 'k',
    opName: 'Relu',
    executionProvider: 'CPUExecutionProvider',
    elementType: 'float32',
  },
  ...{ shape: '[1,4]', inputShape: '[1,4]', inputTypes: 'float32', outputTypes: 'float32', runMs: [1, 1, 1] },
};

async function runOnBusy(register: (program: Command, host: CommandHost) => void, ...args: string[]) {
  const agent = {
    ...createFakeAgent({
      latencyOf: () => 10,
      optimizedOf: (benchmark) => ({ benchmark, values: new Map(), costMs: 1 }),
      conditionsOf: () => BUSY,
    }),
    trace: () => Promise.resolve({ untracedMs: [2, 2], tracedMs: [1, 1], kernels: [KERNEL], conditions: BUSY }),
  };
  const sized = () => Promise.resolve(loadedChain('net', 'Relu', 'Neg'));
  const host = Object.assign(recordingHost(agent), { readModel: () => Promise.resolve(sized) });
  const program = new Command().exitOverride();
  register(program, host);
  await program.parseAsync(args, { from: 'user' });
  return { warned: host.warned.join('\n'), printed: host.printed.join('\n') };
}

describe('a busy machine is named', () => {
  it('by trace model', async () => {
    const { warned, printed } = await runOnBusy(registerTraceModel, 'model', 'net');
    assert.match(warned, /^warning: other processes took 25\.0 % of .*; stop them and trace the model again$/m);
    assert.match(printed, /^tracing overhead: not seen: runs differ by more than it \(by 1\.000 ms\)$/m);
  });

  it('by dlbricks advise', async () => {
    const { warned } = await runOnBusy(registerAdvise, 'advise', 'net', '--rounds', '3');
    assert.match(warned, /disturbed by other processes, which took 25\.0 % of the processors' time/);
  });
});
