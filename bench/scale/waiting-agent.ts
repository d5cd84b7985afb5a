import { setTimeout as wait } from 'node:timers/promises';
import type { BenchmarkAgent } from '../../src/agent/benchmark-agent.js';
import { throwIfCancelled } from '../../src/base/cancellation.js';
import { identifySystem } from '../../src/measurement/system.js';
import type { WaitedItem } from './agent-messages.js';
import { measurementOf, waitMsOf } from './bricks.js';

export interface WaitingOptions {
  readonly host: string;
  /** Mean wait for a brick. */
  readonly brickMs: number;
  readonly onItem: (item: WaitedItem) => void;
}

/**
 * An agent that waits instead of measuring. It waits once for all bricks of a request, as for one composite, and
 * returns all their measurements at the end.
 */
export function waitingAgent(agent: BenchmarkAgent, { host, brickMs, onItem }: WaitingOptions): BenchmarkAgent {
  let endedMs: number | undefined;
  return {
    ...agent,
    description: { ...agent.description, host },
    async *measure(requests, { signal } = {}) {
      const waits = requests.map(({ benchmark }) => waitMsOf(benchmark.signature, brickMs));
      const startMs = performance.now();
      const gapMs = endedMs === undefined ? undefined : startMs - endedMs;
      await wait(
        waits.reduce((sum, ms) => sum + ms, 0),
        undefined,
        { signal },
      ).catch(() => undefined);
      throwIfCancelled(signal);
      endedMs = performance.now();
      onItem({ bricks: requests.length, waitedMs: endedMs - startMs, gapMs });
      for (const [index, request] of requests.entries()) {
        const { runOptions } = request;
        const measurement = measurementOf(request, identifySystem(agent.description, runOptions), waits[index] ?? 0);
        yield { index, measurement };
      }
    },
  };
}
