import { hostname } from 'node:os';
import type { BenchmarkAgent } from '../agent/benchmark-agent.js';
import { throwIfCancelled, untilAborted } from '../base/cancellation.js';
import { type Clock, monotonicClock } from '../base/clock.js';
import { type ErrorCode, messageOf, PlatformError } from '../base/errors.js';
import { keepGoing } from '../base/keep-trying.js';
import type { Measurement } from '../measurement/measurement.js';
import { computeClass } from '../measurement/system.js';
import { buildWanted, knownResults } from '../measuring/known-results.js';
import { Leases } from '../store/leases/leases.js';
import type { ResultStore } from '../store/result-store.js';
import { activeTracing, traced } from '../tracing/tracing.js';
import { type Answers, answersIn } from './answers.js';
import { OTHER_STORE, storeId } from './store-id.js';
import { itemIn, type WorkItem, type WorkRequest } from './work-item.js';
import type { Handled, WorkMessage, WorkQueue } from './work-queue.js';

const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;

const LOOK_MS = 3_000;

const LOCKED_PAUSE_MS = 500;

export interface ServeWorkOptions {
  /** When it aborts, the current work goes back to the queue, and no more is taken. */
  readonly signal: AbortSignal;
  readonly onWarning?: ((message: string) => void) | undefined;
  readonly clock?: Clock | undefined;
}

/** Errors of the machine or the store: another agent may do the work. */
const OF_THE_MACHINE: ReadonlySet<ErrorCode> = new Set(['exhausted', 'storage']);

const PASSING: ReadonlySet<ErrorCode> = new Set([...OF_THE_MACHINE, 'unavailable']);

/** Errors that end the agent. All others are the work's own, whatever a message holds. */
const ENDING: ReadonlySet<ErrorCode> = new Set(['unauthenticated', 'forbidden']);

/**
 * Takes work for an agent's class of systems and measures it with this agent, one item at a time. Work that fails is
 * given up with the reason. While the agent does not answer, or its machine or the store fails, no work is taken.
 *
 * @param store the store that the callers use as well
 * @throws PlatformError as the queue does; `unavailable` if the store's server is gone for good
 */
export async function serveWork(
  queue: WorkQueue,
  agent: BenchmarkAgent,
  store: ResultStore,
  { signal, onWarning, clock = monotonicClock }: ServeWorkOptions,
): Promise<void> {
  const leases = new Leases(store, 'work', clock);
  const answers = answersIn(store);

  async function isWanted({ wantedBy }: WorkItem): Promise<boolean> {
    return wantedBy === undefined || (await leases.holderOf(wantedBy)) !== undefined;
  }

  async function watchWanted(item: WorkItem, unwanted: AbortController, ended: AbortSignal): Promise<void> {
    for (;;) {
      await clock.sleep(LOOK_MS, ended);
      if (ended.aborted) return;
      // While the store is unavailable, the caller counts as waiting.
      if (!(await isWanted(item).catch(() => true))) unwanted.abort();
    }
  }

  /** When no other agent works on the item: a queue may deliver it twice. */
  async function measureAlone(id: string, item: WorkItem, until: AbortSignal): Promise<void> {
    const name = `item ${id}`;
    for (;;) {
      throwIfCancelled(until);
      if ((await leases.take([name])).size === 0) break;
      await clock.sleep(LOCKED_PAUSE_MS, until);
    }
    try {
      await measureItem(id, item, { agent, store, answers, signal: until });
    } finally {
      await leases.release(name);
    }
  }

  /** @param broken aborts with an error after which no more work should be taken */
  async function work(id: string, item: WorkItem, broken: AbortController, onDone: () => void): Promise<Handled> {
    if (signal.aborted) return { kind: 'returned' };
    const unwanted = new AbortController();
    const ended = new AbortController();
    void watchWanted(item, unwanted, ended.signal);
    try {
      if (!(await isWanted(item))) {
        if (item.store === undefined || item.store === (await storeId(store))) return { kind: 'done' };
        const reason = `${OTHER_STORE} (${hostname()}): name one store for servers, plugins and agents (--store)`;
        onWarning?.(`gave up work: ${reason}`);
        return { kind: 'refused', reason };
      }
      await measureAlone(id, item, AbortSignal.any([signal, unwanted.signal]));
      onDone();
      return { kind: 'done' };
    } catch (thrown) {
      if (signal.aborted) return { kind: 'returned' };
      if (unwanted.signal.aborted) return { kind: 'done' };
      const code = thrown instanceof PlatformError ? thrown.code : 'internal';
      if (!PASSING.has(code) && !ENDING.has(code)) return { kind: 'refused', reason: messageOf(thrown) };
      broken.abort(thrown);
      if (OF_THE_MACHINE.has(code)) return { kind: 'returned' };
      throw thrown;
    } finally {
      ended.abort();
    }
  }

  async function serve(answered: () => void): Promise<void> {
    const broken = new AbortController();
    const handle = async ({ id, body }: WorkMessage): Promise<Handled> => {
      let item: WorkItem;
      try {
        item = itemIn(body);
      } catch (thrown) {
        return { kind: 'refused', reason: messageOf(thrown) };
      }
      const attributes = { item_id: id, measurements: item.requests.length };
      const inSpan = (): Promise<Handled> =>
        traced('work', { level: 'APPLICATION_TRACE', attributes }, () => work(id, item, broken, answered));
      return activeTracing()?.under(item.traceContext, inSpan) ?? inSpan();
    };
    const serving = await queue.serve(computeClass(agent.description), handle);
    await untilAborted(AbortSignal.any([signal, broken.signal]));
    await serving.close();
    if (broken.signal.aborted) throw broken.signal.reason;
  }

  try {
    await keepGoing(serve, {
      firstPauseMs: FIRST_PAUSE_MS,
      longestPauseMs: MAX_PAUSE_MS,
      isPassing: (thrown) =>
        thrown instanceof PlatformError && PASSING.has(thrown.code) && store.isUnavailable !== true,
      onFailure: ({ thrown, isFirst }) => {
        if (isFirst) onWarning?.(`no work is taken for now: ${messageOf(thrown)}; trying again`);
      },
      signal,
      clock,
    });
  } finally {
    await leases.close();
  }
}

interface MeasureItemOptions {
  readonly agent: BenchmarkAgent;
  readonly store: ResultStore;
  readonly answers: Answers;
  readonly signal: AbortSignal;
}

/** What was measured since the item was made is not measured again. @throws PlatformError as agent and store do */
async function measureItem(id: string, item: WorkItem, options: MeasureItemOptions): Promise<void> {
  const { agent, store, answers, signal } = options;
  const { requests, wantedBy } = item;

  const answer = async (index: number, measurement: Measurement, isStored: boolean): Promise<void> => {
    if (wantedBy === undefined) return;
    const stored = isStored ? ({ is_stored: true } as const) : {};
    await answers.put({ item: id, request: String(index), wanted_by: wantedBy, measurement, ...stored });
  };

  const keep = async (index: number, measurement: Measurement): Promise<void> => {
    const isKept = isStoredHere(requests[index], measurement, wantedBy);
    if (isKept) await store.putMeasurement(measurement);
    // If the store's server is gone, the measurement waits on this machine.
    await answer(index, measurement, isKept && store.isUnavailable !== true);
  };

  const answered = new Set<number>();
  for await (const { request } of answers.find({ item: id })) answered.add(Number(request));
  const stored = await knownResults(
    requests.map(({ request }) => buildWanted(request)),
    agent.description,
    store,
  );
  const left: number[] = [];
  for (const [index, { request, replaces }] of requests.entries()) {
    if (answered.has(index)) continue;
    const measurement = stored.get(request);
    if (measurement === undefined || measurement.measuredAt === replaces) left.push(index);
    else await answer(index, measurement, true);
  }
  const asked = left.flatMap((index) => requests[index]?.request ?? []);
  const keeping: Promise<void>[] = [];
  try {
    for await (const { index: position, measurement } of agent.measure(asked, { signal })) {
      const index = left[position];
      if (index === undefined) continue;
      const kept = keep(index, measurement);
      // Awaited below.
      kept.catch(() => undefined);
      keeping.push(kept);
    }
  } finally {
    await Promise.all(keeping);
  }
}

/** A waiting caller decides whether a measurement replaces a stored one. */
function isStoredHere(asked: WorkRequest | undefined, { outcome }: Measurement, wantedBy: string | undefined): boolean {
  return asked?.replaces === undefined || (wantedBy === undefined && outcome.kind === 'samples');
}
