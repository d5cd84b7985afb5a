import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { collect } from '../../../src/base/collect.js';
import type { BenchmarkAgent } from '../../../src/agent/benchmark-agent.js';
import { createFakeAgent, type FakeAgent } from '../../support/fake-agent.js';
import { standbyAgent } from '../../../src/agent/spread/standby-agent.js';
import { PlatformError } from '../../../src/base/errors.js';
import { assertRefused } from '../../rpc/support/refusal.js';
import { requestsFor } from './requests.js';

const REQUESTS = requestsFor(10);
const gone = (): PlatformError => new PlatformError('unavailable', 'the agent does not answer');

function machine(processor = 'fast'): FakeAgent {
  const optimizedOf = (benchmark: (typeof REQUESTS)[number]['benchmark']) => ({
    benchmark,
    values: new Map(),
    costMs: 1,
  });
  return createFakeAgent({ latencyOf: () => 1, inferredValuesOf: () => new Map(), optimizedOf, processor });
}

/** An agent that is killed after it has answered `calls` times, in any call. */
function mortal(agent: FakeAgent, calls: number): BenchmarkAgent {
  let left = calls;
  const answer = (): void => {
    if (left-- <= 0) throw gone();
  };
  return {
    ...agent,
    async *measure(requests, options) {
      for await (const measured of agent.measure(requests, options)) {
        answer();
        yield measured;
      }
    },
    inferTypes: async (...request) => {
      answer();
      return agent.inferTypes(...request);
    },
    optimize: async (...request) => {
      answer();
      return agent.optimize(...request);
    },
  };
}

function standbys(agents: readonly (BenchmarkAgent | PlatformError)[]) {
  const told: string[] = [];
  const connected: number[] = [];
  const list = agents.map((agent, index) => ({
    name: `a:${index}`,
    connect: () => {
      connected.push(index);
      return agent instanceof PlatformError ? Promise.reject(agent) : Promise.resolve(agent);
    },
  }));
  return { told, connected, open: () => standbyAgent(list, { tell: (message) => told.push(message) }) };
}

describe('an agent with others that replace it', () => {
  it('uses the first one only, while it answers', async () => {
    const { connected, told, open } = standbys([machine(), machine()]);
    assert.equal((await collect((await open()).measure(REQUESTS))).length, REQUESTS.length);
    assert.deepEqual([connected, told], [[0], []]);
  });

  for (let calls = 0; calls < 14; calls++) {
    it(`does every step with another one after the first is killed at call ${calls}`, async () => {
      const first = machine();
      const second = machine();
      const { told, open } = standbys([mortal(first, calls), second]);
      const agent = await open();
      const [{ benchmark, runOptions }] = REQUESTS as [(typeof REQUESTS)[number]];
      await agent.inferTypes(benchmark);
      await agent.optimize(benchmark, runOptions);
      const measured = await collect(agent.measure(REQUESTS));
      await agent.optimize(benchmark, runOptions);
      assert.deepEqual(
        measured.map(({ index, measurement }) => [index, measurement.signature]),
        REQUESTS.map((request, index) => [index, request.benchmark.signature]),
      );
      const expected =
        calls > 12 ? [] : ['the agent at a:1 does the rest of the work of the agent at a:0: the agent does not answer'];
      assert.deepEqual(told, expected);
    });
  }

  it('leaves out agents that do not answer, or are of another system', async () => {
    const second = machine();
    const { told, open } = standbys([gone(), mortal(machine(), 3), machine('slow'), gone(), second]);
    assert.equal((await collect((await open()).measure(REQUESTS))).length, REQUESTS.length);
    assert.equal(second.measured.length, REQUESTS.length - 3);
    assert.match(told.join(), /at a:4 does the rest of the work of the agent at a:1/);
  });

  it('fails with the reason where no other one of the system is left, and for a wrong request at once', async () => {
    const alone = standbys([mortal(machine(), 3), machine('slow')]);
    await assertRefused(collect((await alone.open()).measure(REQUESTS)), 'unavailable', /does not answer/);
    await assertRefused(standbys([gone(), gone()]).open(), 'unavailable', /does not answer/);
    const wrong: BenchmarkAgent = {
      ...machine(),
      optimize: () => Promise.reject(new PlatformError('unsupported', 'the runtime refuses the graph')),
    };
    const { connected, open } = standbys([wrong, machine()]);
    const [{ benchmark, runOptions }] = REQUESTS as [(typeof REQUESTS)[number]];
    await assertRefused((await open()).optimize(benchmark, runOptions), 'unsupported', /refuses/);
    assert.deepEqual(connected, [0]);
  });

  it('goes on with the same one where it answers again and no other one is left', async () => {
    const whole = machine();
    let connections = 0;
    const told: string[] = [];
    const connect = (): Promise<BenchmarkAgent> => Promise.resolve(connections++ === 0 ? mortal(whole, 3) : whole);
    const agent = await standbyAgent([{ name: 'a:0', connect }], { tell: (message) => told.push(message) });
    assert.deepEqual(
      (await collect(agent.measure(REQUESTS))).map(({ index }) => index),
      [...REQUESTS.keys()],
    );
    assert.equal(connections, 2);
    assert.deepEqual(told, [
      'the agent at a:0 answers again, and does the rest of its work: the agent does not answer',
    ]);
  });

  it('waits for the same one as long as it may, unless it is interrupted', async () => {
    const whole = machine();
    let connections = 0;
    const connect = (): Promise<BenchmarkAgent> => {
      connections++;
      if (connections === 1) return Promise.resolve(mortal(whole, 3));
      return connections === 2 ? Promise.reject(gone()) : Promise.resolve(whole);
    };
    const open = (signal?: AbortSignal) =>
      standbyAgent([{ name: 'a:0', connect }], {
        tell: () => undefined,
        patienceMs: 60_000,
        ...(signal && { signal }),
      });
    assert.equal((await collect((await open()).measure(REQUESTS))).length, REQUESTS.length);
    connections = 0;
    const agent = await open(AbortSignal.abort());
    await assertRefused(collect(agent.measure(REQUESTS)), 'cancelled');
  });

  it('fails where the same one is another system when it answers again', async () => {
    let connections = 0;
    const connect = (): Promise<BenchmarkAgent> =>
      Promise.resolve(connections++ === 0 ? mortal(machine('fast'), 3) : machine('slow'));
    const agent = await standbyAgent([{ name: 'a:0', connect }], { tell: () => assert.fail() });
    const asked = collect(agent.measure(REQUESTS));
    await assertRefused(asked, 'unavailable', /a:0 is another system .*was "fast" and is "slow"/);
  });

  it('does not ask one again whose machine has failed', async () => {
    const full = new PlatformError('exhausted', 'the disk is full');
    const broken: BenchmarkAgent = { ...machine(), optimize: () => Promise.reject(full) };
    const { connected, open } = standbys([broken]);
    const [{ benchmark, runOptions }] = REQUESTS as [(typeof REQUESTS)[number]];
    await assertRefused((await open()).optimize(benchmark, runOptions), 'exhausted', /disk is full/);
    assert.deepEqual(connected, [0]);
  });

  it('gives up a call that three agents in a row do not survive', async () => {
    const killers = [0, 0, 0, 0].map(() => mortal(machine(), 0));
    const { connected, open } = standbys(killers);
    await assertRefused(collect((await open()).measure(REQUESTS)), 'unavailable', /does not answer/);
    assert.deepEqual(connected, [0, 1, 2]);
  });
});
