import type { BenchmarkAgent } from '../../src/agent/benchmark-agent.js';
import { createFakeAgent } from '../../test/support/fake-agent.js';
import { PlatformError } from '../../src/base/errors.js';
import { buildComposite } from '../../src/composite/composite.js';
import { planComposites } from '../../src/composite/plan-composites.js';
import { materialize } from '../../src/predictor/materialize.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { MemoryWorkQueue } from '../../test/work/memory/memory-work-queue.js';
import { serveWork } from '../../src/work/serve-work.js';
import { encodeItem } from '../../src/work/work-item.js';
import type { Handled, Ongoing, WorkHandler } from '../../src/work/work-queue.js';
import { LIMITS, PROTOCOL, SYSTEM } from '../../test/store/sample-measurement.js';
import { mutateBytes } from '../mutate/bytes.js';
import { mutateMessage } from '../mutate/message.js';
import { sampleSuite } from './sample-suite.js';
import type { Target, Verdict } from './target.js';

/** A message as agents find it in a queue, with a brick in a context and one alone. */
function sampleWork(): Uint8Array {
  const requests = sampleSuite()
    .suite.bricks.slice(0, 2)
    .map((brick, index) => {
      const context = index === 0 ? {} : { context: { footprintBytes: 2 ** 20 } };
      const setup = { runOptions: SYSTEM.runOptions, protocol: PROTOCOL, limits: LIMITS, occasion: 1 };
      return { request: { benchmark: brick, ...setup, ...context }, replaces: undefined };
    });
  return encodeItem({ requests, wantedBy: undefined, traceContext: {} });
}

const PLAN = { cacheBytes: 2 ** 25, runs: 10 };

/** An agent that reads bricks as the real one does before it gives them to the runtime, and measures nothing. */
function readingAgent(): BenchmarkAgent {
  const agent = createFakeAgent({ latencyOf: () => 1 });
  return {
    ...agent,
    async *measure(requests, options) {
      for (const { benchmark, context, modelBytes = 0, roughMs = 0, limits } of requests) {
        if (context === undefined) materialize(benchmark);
        else {
          planComposites([{ benchmark, context, modelBytes, roughMs }], { ...PLAN, ...limits });
          buildComposite([benchmark], 0);
        }
      }
      yield* agent.measure(requests, options);
    },
  };
}

/** A queue that gives its handler messages of any bytes. */
class OpenQueue extends MemoryWorkQueue {
  handler: WorkHandler = () => Promise.reject(new Error('nothing serves'));

  override serve(system: string, handler: WorkHandler): Promise<Ongoing> {
    this.handler = handler;
    return super.serve(system, handler);
  }
}

function verdictOf(handled: Handled): Verdict {
  if (handled.kind === 'done') return 'read';
  if (handled.kind === 'refused' && handled.reason !== '') return 'refused';
  throw new Error(`a message was ${handled.kind}, with no reason`);
}

/** @throws where the message ends the agent, or is not given up with a reason */
async function check(body: Uint8Array): Promise<Verdict> {
  const queue = new OpenQueue();
  const store = await openMemoryStore();
  const stop = new AbortController();
  let defect: Error | undefined;
  const agent = readingAgent();
  const served = serveWork(
    queue,
    {
      ...agent,
      async *measure(requests, options) {
        try {
          yield* agent.measure(requests, options);
        } catch (error) {
          if (!(error instanceof PlatformError)) defect = new Error('an unexpected error', { cause: error });
          throw error;
        }
      },
    },
    store,
    { signal: stop.signal },
  );
  const ended = served.then(() => Promise.reject<Handled>(new Error('the agent has ended')));
  try {
    const verdict = verdictOf(await Promise.race([ended, queue.handler({ id: 'any', body })]));
    if (defect !== undefined) throw defect;
    return verdict;
  } finally {
    stop.abort();
    await ended.catch(() => undefined);
    await queue.close();
    await store.close();
  }
}

/** Messages of any bytes, as an agent takes them from a queue: each is measured or given up, and the agent goes on. */
export const queueMessage: Target = {
  name: 'queue-message',
  seeds: () => Promise.resolve([sampleWork()]),
  mutate: (input, random) => (random.oneIn(2) ? mutateBytes : mutateMessage)(input, random),
  check,
};
