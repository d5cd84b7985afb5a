import type { BenchmarkAgent } from '../agent/benchmark-agent.js';
import { throwIfCancelled, untilAborted } from '../base/cancellation.js';
import { type Clock, monotonicClock } from '../base/clock.js';
import { type ErrorCode, messageOf, PlatformError } from '../base/errors.js';
import { keepGoing } from '../base/keep-trying.js';
import { computeClass } from '../measurement/system.js';
import { Leases } from '../store/leases/leases.js';
import type { ResultStore } from '../store/result-store.js';
import { activeTracing, traced } from '../tracing/tracing.js';
import { answersIn } from './answers.js';
import { measureItem } from './measure-item.js';
import { itemIn, type WorkItem } from './work-item.js';
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
      if (!(await isWanted(item))) return { kind: 'done' };
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
