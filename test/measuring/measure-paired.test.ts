import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BenchmarkAgent } from '../../src/agent/benchmark-agent.js';
import { createFakeAgent } from '../support/fake-agent.js';
import type { Conditions } from '../../src/measurement/conditions.js';
import { type Both, measurePaired, type Pair } from '../../src/measuring/measure-paired.js';
import { conditionsBeside } from '../store/measured-beside.js';
import { sampleTasks } from './sample-tasks.js';

const REQUESTS = sampleTasks('one', 'two').map(({ request }) => request);

function noting(side: string, calls: string[], conditionsOf?: () => Conditions): BenchmarkAgent {
  const agent = createFakeAgent({
    latencyOf: () => (side === 'A' ? 2 : 3),
    ...(conditionsOf && { conditionsOf }),
  });
  return {
    ...agent,
    measure(requests, options) {
      calls.push(`${side}${requests[0]?.occasion}`);
      return agent.measure(requests, options);
    },
  };
}

function pairOf(label: string, index: number): Pair {
  const requests = REQUESTS.slice(index, index + 1);
  return { label, requests: [requests, requests] };
}

async function measured(agents: Both<BenchmarkAgent>, rounds: number, pairs: readonly Pair[], signal?: AbortSignal) {
  const found: number[][] = [];
  const options = { rounds, signal: signal ?? new AbortController().signal, onEvent: () => undefined };
  for await (const sides of measurePaired(agents, pairs, options)) {
    const [request] = REQUESTS;
    assert.ok(request);
    found.push(
      sides.map((results) => {
        const outcome = results.get(request)?.outcome;
        return outcome?.kind === 'samples' ? (outcome.runMs[0] ?? 0) : 0;
      }),
    );
  }
  return found;
}

describe('measuring two sides', () => {
  test('alternates: A B B A, the next pair the other way round, each in a process of its own', async () => {
    const calls: string[] = [];
    const agents = [noting('A', calls), noting('B', calls)] as const;
    assert.deepEqual(await measured(agents, 2, [pairOf('one', 0), pairOf('two', 1)]), [
      [2, 3],
      [2, 3],
    ]);
    assert.deepEqual(calls, ['A1', 'B2', 'B3', 'A4', 'B5', 'A6', 'A7', 'B8']);
  });

  test('measures a disturbed pair again, on both sides, and keeps the less disturbed results', async () => {
    const calls: string[] = [];
    let busy = 1;
    const conditionsOf = (): Conditions => conditionsBeside(busy-- > 0 ? 1000 : 0);
    const agents = [noting('A', calls, conditionsOf), noting('B', calls)] as const;
    assert.equal((await measured(agents, 2, [pairOf('one', 0)])).length, 2);
    assert.deepEqual(calls, ['A1', 'B2', 'A3', 'B4', 'B5', 'A6']);
  });

  test('gives up measuring again on a machine that stays busy', async () => {
    const calls: string[] = [];
    const agents = [noting('A', calls, () => conditionsBeside(1000)), noting('B', calls)] as const;
    assert.equal((await measured(agents, 4, [pairOf('one', 0)])).length, 4);
    assert.equal(calls.length, 2 * (4 + 2));
  });

  test('keeps the complete rounds when it is interrupted', async () => {
    const stop = new AbortController();
    const calls: string[] = [];
    const first = noting('A', calls);
    const stopping: BenchmarkAgent = {
      ...first,
      measure(requests, options) {
        if (calls.length === 4) stop.abort();
        return first.measure(requests, options);
      },
    };
    const found = await measured([stopping, noting('B', calls)], 9, [pairOf('one', 0)], stop.signal);
    assert.equal(found.length, 2);
  });
});
