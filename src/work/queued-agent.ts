import { randomUUID } from 'node:crypto';
import { divideWork } from '../agent/client/divide-work.js';
import { measureNumbered } from '../agent/client/measure-numbered.js';
import type { Numbered } from '../agent/client/requests-together.js';
import type { BenchmarkAgent, MeasuredRequest, MeasureOptions, MeasureRequest } from '../agent/benchmark-agent.js';
import { type Clock, monotonicClock } from '../base/clock.js';
import { computeClass } from '../measurement/system.js';
import { knownResults, buildWanted } from '../measuring/known-results.js';
import { Leases } from '../store/leases/leases.js';
import type { ResultStore } from '../store/result-store.js';
import { answersIn, forgetOrphans } from './answers.js';
import { PublishedWork } from './published-work.js';
import { storeId } from './store-id.js';
import type { WorkRequest } from './work-item.js';
import type { WorkQueue } from './work-queue.js';

/** A larger brick, which has constants of this size, counts as a model. */
const MAX_MODEL_BYTES = 4 * 2 ** 20;

/** The most measurements of an item, and the most bytes of their models: a repeated item loses little. */
const MAX_REQUESTS = 64;
const MAX_BYTES = 4 * 2 ** 20;

/** Queues carry bricks, and no models, weights or names. */
function isForQueue({ benchmark, name }: MeasureRequest): boolean {
  return benchmark.weights === undefined && name === undefined && benchmark.model.length <= MAX_MODEL_BYTES;
}

/**
 * All agents of a class of systems as one agent. Measurements come in any order. Work that is given up is published
 * again in halves; a benchmark that is given up alone fails. `agent`, one of the class, gets whole models, and all
 * requests while no agent serves the class. Its `measure` throws `unavailable` if no agent serves for ten minutes, and
 * as the queue and the store do.
 *
 * @param store the store of the agents that serve
 */
export function queuedAgent(
  queue: WorkQueue,
  agent: BenchmarkAgent,
  store: ResultStore,
  clock: Clock = monotonicClock,
): BenchmarkAgent {
  const leases = new Leases(store, 'work', clock);
  const answers = answersIn(store);

  async function* measure(
    requests: readonly MeasureRequest[],
    options: MeasureOptions = {},
  ): AsyncGenerator<MeasuredRequest> {
    const system = computeClass(agent.description);
    const { serving } = await queue.state(system);
    const all = requests.map((request, index) => ({ request, index }));
    const isPublished = ({ request }: Numbered): boolean => serving > 0 && isForQueue(request);
    const published = all.filter(isPublished);
    if (published.length > 0) {
      const wantedBy = `batch ${randomUUID()}`;
      await leases.take([wantedBy]);
      try {
        await forgetOrphans(answers, async (name) => (await leases.holderOf(name)) !== undefined);
        const asked = published.map(({ request }) => request);
        const { cacheBytes } = agent.description;
        const limits = { mostRequests: MAX_REQUESTS, mostBytes: MAX_BYTES };
        const items = divideWork(asked, { agents: serving, cacheBytes, ...limits });
        const replaced = await replacedBy(published);
        const work = items.map((item) => item.flatMap(({ index }) => replaced[index] ?? []));
        const facts = agent.description;
        // This process may have been suspended for so long that agents took it for gone.
        const regainLease = async (): Promise<boolean> => {
          if ((await leases.held()).has(wantedBy)) return false;
          await leases.take([wantedBy]);
          return true;
        };
        const common = { queue, system, facts, answers, wantedBy, regainLease, clock };
        const publishing = new PublishedWork({ ...common, store: await storeId(store) });
        yield* publishing.measure(work, serving, options);
      } finally {
        await leases.release(wantedBy);
      }
    }
    const direct = all.filter((numbered) => !isPublished(numbered));
    if (direct.length > 0) yield* measureNumbered(agent, direct, options);
  }

  async function replacedBy(published: readonly Numbered[]): Promise<readonly (WorkRequest & Numbered)[]> {
    const wanted = published.map(({ request }) => buildWanted(request));
    const stored = await knownResults(wanted, agent.description, store);
    return published.map(({ request, index }) => {
      return { request, index, replaces: stored.get(request)?.measuredAt };
    });
  }

  return {
    ...agent,
    measure,
    close: async () => {
      await leases.close();
      await agent.close();
    },
  };
}
