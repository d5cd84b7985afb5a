import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import type { handleServerStreamingCall, handleUnaryCall } from '@grpc/grpc-js';
import { connectAgent } from '../../../src/agent/client/agent-client.js';
import { startAgent } from '../../../src/agent/services/server.js';
import { PlatformError } from '../../../src/base/errors.js';
import {
  Ability,
  BenchmarkServiceService,
  type DescribeSystemRequest,
  DescribeSystemResponse,
  Failure_Reason,
  Measurement,
  type MeasureRequest,
  type MeasureResponse,
  Progress,
  Progress_Phase,
  System,
} from '../../../src/generated/mlmodelscope/benchmark/v1/benchmark.js';
import { toWireRunOptions } from '../../../src/agent/wire/benchmark-wire.js';
import { identifySystem } from '../../../src/measurement/system.js';
import { createRpcServer } from '../../../src/rpc/server.js';
import { assertRefused } from '../../rpc/support/refusal.js';
import { freePort } from '../../support/free-port.js';
import { describeBenchmarkAgent } from '../support/contract.js';
import { longProtocol, protocol, relu, runOptions } from '../support/tiny-benchmarks.js';
import { measureOne } from '../support/measure-one.js';

describeBenchmarkAgent('an agent behind gRPC', async () => {
  const agent = await startAgent();
  const client = await connectAgent(agent.address);
  return {
    ...client,
    async close() {
      await client.close();
      await agent.close();
    },
  };
});

/** How a foreign agent describes itself, and answers Measure. */
interface Foreign {
  readonly system?: Partial<System>;
  readonly hostname?: string;
  readonly abilities?: readonly Ability[];
  readonly measurement?: Partial<Measurement>;
  /** Number of times that it answers; once by default. */
  readonly answers?: number;
  /** Progress reports before the answer. */
  readonly progress?: number;
}

const FOREIGN: System = {
  ...System.create(),
  fingerprint: 'made up by the agent',
  processor: 'another processor',
  architecture: 'x64',
  operatingSystem: 'Linux 6.1',
  cores: 2,
  memoryBytes: 8_000_000_000n,
  framework: 'another',
  frameworkVersion: '2.0.0',
};

/** Serves an agent that is not ours. `described` counts its descriptions. */
async function serveForeign(t: TestContext, foreign: Foreign, port = 0) {
  let described = 0;
  const server = createRpcServer({});
  const describeSystem: handleUnaryCall<DescribeSystemRequest, DescribeSystemResponse> = (_, callback) => {
    described++;
    const { hostname = '', abilities = [] } = foreign;
    const system = { ...FOREIGN, ...foreign.system };
    callback(null, { ...DescribeSystemResponse.create(), system, hostname, abilities: [...abilities] });
  };
  const measure: handleServerStreamingCall<MeasureRequest, MeasureResponse> = (call) => {
    const value: Measurement = {
      ...Measurement.create(),
      signature: call.request.benchmark?.signature ?? '',
      outcome: { $case: 'samples', value: { runMs: [1, 1, 1], warmupMs: [], overheadMs: undefined } },
      ...foreign.measurement,
    };
    const { answers = 1, progress = 0 } = foreign;
    const report = { ...Progress.create(), phase: Progress_Phase.RUNNING };
    for (let i = 0; i < progress; i++) call.write({ event: { $case: 'progress', value: report } });
    for (let i = 0; i < answers; i++) call.write({ event: { $case: 'measurement', value } });
    call.end();
  };
  server.addService(BenchmarkServiceService, { describeSystem, measure }, { maxRequestBytes: {} });
  const address = await server.listen({ host: '127.0.0.1', port });
  const close = (): Promise<void> => server.close(new PlatformError('unavailable', 'closed'));
  t.after(close);
  return { address, close, described: () => described };
}

function portOf(address: string): number {
  return Number(address.split(':').at(-1));
}

async function connectForeign(t: TestContext, foreign: Foreign) {
  // Some agents come back at the same port.
  const served = await serveForeign(t, foreign, await freePort());
  const agent = await connectAgent(served.address);
  t.after(() => agent.close());
  return { ...served, agent };
}

describe('agent client', () => {
  test('an address without a listener is unavailable; the error names the address and gives advice', async () => {
    const agent = await startAgent();
    await agent.close();
    await assertRefused(connectAgent(agent.address), 'unavailable', agent.address, /mlmodelscope agent/);
  });

  test('an agent describes itself once for each connection', async (t) => {
    const { agent, described } = await connectForeign(t, {});
    for (let time = 0; time < 3; time++) await measureOne(agent, relu, runOptions, protocol);
    assert.equal(described(), 1);
  });

  test('the platform computes the fingerprint, whatever the agent sends', async (t) => {
    const { agent } = await connectForeign(t, {});
    const { system } = await measureOne(agent, relu, runOptions, protocol);
    assert.deepEqual(system, identifySystem(agent.description, runOptions));
    // printf '["another processor","x64","Linux 6.1",2,0,[],"another","2.0.0",1,"cpu","all"]' | sha256sum
    assert.equal(system.fingerprint, '0a953223f55639e357c158b78e6aef59f65d8f7153496ba98803d365685d0557');
  });

  test('an agent that gives no name is named by its address', async (t) => {
    const { agent, address } = await connectForeign(t, {});
    assert.equal(agent.description.host, address);
  });

  test('a call that the agent says it cannot answer is refused with a remedy, and not made', async (t) => {
    const { agent } = await connectForeign(t, { abilities: [Ability.MEASURE] });
    await assertRefused(agent.optimize(relu, runOptions), 'unsupported', /another 2\.0\.0.*--cut layer/);
    await assertRefused(agent.inferTypes(relu), 'unsupported', /infers no types/);
    const parallel = { ...runOptions, executionMode: 'parallel' } as const;
    await assertRefused(measureOne(agent, relu, parallel, protocol), 'unsupported', /no execution mode/);
  });

  test('an agent of version 0.1, which lists no abilities, may infer types and optimize', async (t) => {
    const { agent } = await connectForeign(t, {});
    assert.deepEqual(agent.description.abilities, ['infer_types', 'optimize']);
  });

  test('a description that is no line of text is refused', async (t) => {
    const { address } = await serveForeign(t, { system: { processor: '\u001b[2J' } });
    await assertRefused(connectAgent(address), 'internal', /processor: not a line/);
  });

  test('a measurement of another benchmark is refused, and the agent is named', async (t) => {
    const { agent, address } = await connectForeign(t, { measurement: { signature: 'f'.repeat(64) } });
    const measuring = measureOne(agent, relu, runOptions, protocol);
    await assertRefused(measuring, 'internal', new RegExp(`${address}.*of another benchmark`));
  });

  test('a measurement of another system than the agent describes is refused', async (t) => {
    const system = { ...FOREIGN, processor: 'a faster one', runOptions: toWireRunOptions(runOptions) };
    const { agent, address } = await connectForeign(t, { measurement: { system } });
    const measuring = measureOne(agent, relu, runOptions, protocol);
    await assertRefused(measuring, 'internal', new RegExp(`${address}.*of another system`));
  });

  const samples = (runMs: readonly number[], warmupMs: readonly number[] = []): Partial<Measurement> => {
    return {
      outcome: { $case: 'samples', value: { runMs: [...runMs], warmupMs: [...warmupMs], overheadMs: undefined } },
    };
  };
  const tooMuch: readonly (readonly [string, Foreign, RegExp])[] = [
    ['measurements', { answers: 1000 }, /sends more than the 1 results asked for/],
    ['progress', { progress: 100_000 }, /sends more progress than anyone could read/],
    ['samples', { measurement: samples(new Array(6).fill(1)) }, /more than the 5 runs, or 2 warm-up runs, asked for/],
    ['warm-up runs', { measurement: samples([1], [1, 1, 1]) }, /more than the 5 runs, or 2 warm-up runs/],
    ['cost', { measurement: { costMs: -1 } }, /costMs/],
    ['no number as a cost', { measurement: { costMs: NaN } }, /costMs/],
  ];
  for (const [what, foreign, message] of tooMuch) {
    test(`an agent that answers with too much or wrong ${what} is refused by name`, async (t) => {
      const { agent, address } = await connectForeign(t, foreign);
      await assertRefused(measureOne(agent, relu, runOptions, protocol), 'internal', message);
      await assertRefused(measureOne(agent, relu, runOptions, protocol), 'internal', new RegExp(address));
    });
  }

  test('the message of a failure is cut', async (t) => {
    const failure = { reason: Failure_Reason.CRASHED, message: 'x'.repeat(5_000_000) };
    const { agent } = await connectForeign(t, { measurement: { outcome: { $case: 'failure', value: failure } } });
    const { outcome } = await measureOne(agent, relu, runOptions, protocol);
    assert.ok(outcome.kind === 'failure' && outcome.message.length <= 2001);
  });

  test('an agent that comes back as the same system is used further', { timeout: 300_000 }, async (t) => {
    const { agent, address, close } = await connectForeign(t, {});
    await close();
    const back = await serveForeign(t, { system: { memoryBytes: 9_000_000_000n } }, portOf(address));
    await measureOne(agent, relu, runOptions, protocol);
    assert.equal(back.described(), 1);
  });

  test('an agent that comes back as another system ends the run; the message says what differs', async (t) => {
    const { agent, address, close } = await connectForeign(t, {});
    await close();
    await serveForeign(t, { system: { processor: 'a new one' } }, portOf(address));
    const differs = /another system.*processor was "another processor" and is "a new one"/;
    // Also the next call.
    for (let call = 0; call < 2; call++) {
      await assertRefused(measureOne(agent, relu, runOptions, protocol), 'unavailable', differs);
    }
  });

  test('an agent that shuts down ends a measurement as unavailable', { timeout: 300_000 }, async () => {
    const agent = await startAgent();
    const client = await connectAgent(agent.address);
    try {
      const measuring = measureOne(client, relu, runOptions, longProtocol, {
        onProgress: ({ phase }) => {
          if (phase === 'running') void agent.close();
        },
      });
      await assertRefused(measuring, 'unavailable');
    } finally {
      await client.close();
      await agent.close();
    }
  });

  test('an address that is in use is unavailable to a second agent', async () => {
    const agent = await startAgent();
    const port = portOf(agent.address);
    try {
      await assertRefused(startAgent({ port }), 'unavailable', `:${port}`);
    } finally {
      await agent.close();
    }
  });
});
