import type { BenchmarkAgent } from '../agent/benchmark-agent.js';
import { type Clock, monotonicClock } from '../base/clock.js';
import { type ErrorCode, messageOf, PlatformError } from '../base/errors.js';
import { keepGoing } from '../base/keep-trying.js';
import { computeClass } from '../measurement/system.js';
import { Leases } from '../store/leases/leases.js';
import type { ResultStore } from '../store/result-store.js';
import { activeTracing, traced } from '../tracing/tracing.js';
import { Answers } from './answers.js';
import { measureItem } from './measure-item.js';
import { withItemLock } from './item-lock.js';
import { itemIn, type WorkItem } from './work-item.js';
import type { Handled, WorkMessage, WorkQueue } from './work-queue.js';

const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;

const LOOK_MS = 3_000;

export interface ServeWorkOptions {
  /** When it aborts, the current work goes back to the queue, and no more is taken. */
  readonly signal: AbortSignal;
  readonly onWarning?: ((message: string) => void) | undefined;
  readonly clock?: Clock | undefined;
}

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
  try {
    await keepGoing(
      async (answers) => {
        const system = computeClass(agent.description);
        const server = new WorkServer({ agent, store, leases, signal, clock, onDone: answers });
        const serving = await queue.serve(system, (message) => server.handle(message));
        try {
          await server.ended;
        } finally {
          server.close();
          await serving.close();
        }
      },
      {
        firstPauseMs: FIRST_PAUSE_MS,
        longestPauseMs: MAX_PAUSE_MS,
        isPassing: (thrown) =>
          thrown instanceof PlatformError && PASSING.has(thrown.code) && store.isUnavailable !== true,
        onFailure: ({ thrown, isFirst }) => {
          if (isFirst) onWarning?.(`no work is taken for now: ${messageOf(thrown)}; trying again`);
        },
        signal,
        clock,
      },
    );
  } finally {
    await leases.close();
  }
}

interface WorkServerOptions {
  readonly agent: BenchmarkAgent;
  readonly store: ResultStore;
  readonly leases: Leases;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly onDone: () => void;
}

/** Errors of the machine or the store: another agent may do the work. */
const OF_THE_MACHINE: ReadonlySet<ErrorCode> = new Set(['exhausted', 'storage']);

const PASSING: ReadonlySet<ErrorCode> = new Set([...OF_THE_MACHINE, 'unavailable']);

/** Errors that end the agent. All others are the work's own, whatever a message holds. */
const ENDING: ReadonlySet<ErrorCode> = new Set(['unauthenticated', 'forbidden']);

class WorkServer {
  readonly #answers: Answers;
  #end: () => void = () => {};
  #fail: (reason: unknown) => void = () => {};
  /** Resolves when the signal aborts. Rejects with an error after which no more work should be taken. */
  readonly ended: Promise<void>;

  constructor(private readonly options: WorkServerOptions) {
    const { store, signal } = options;
    this.#answers = new Answers(store);
    this.ended = new Promise<void>((resolve, reject) => {
      this.#end = resolve;
      this.#fail = reject;
    });
    if (signal.aborted) this.#end();
    else signal.addEventListener('abort', this.#end, { once: true });
    // It may reject before it is awaited.
    this.ended.catch(() => undefined);
  }

  close(): void {
    this.options.signal.removeEventListener('abort', this.#end);
  }

  async handle(message: WorkMessage): Promise<Handled> {
    let item: WorkItem;
    try {
      item = itemIn(message.body);
    } catch (thrown) {
      return { kind: 'refused', reason: messageOf(thrown) };
    }
    const attributes = { item_id: message.id, measurements: item.requests.length };
    const work = (): Promise<Handled> =>
      traced('work', { level: 'APPLICATION_TRACE', attributes }, () => this.#work(message.id, item));
    return activeTracing()?.under(item.traceContext, work) ?? work();
  }

  async #work(id: string, item: WorkItem): Promise<Handled> {
    const { agent, store, signal } = this.options;
    if (signal.aborted) return { kind: 'returned' };
    const unwanted = new AbortController();
    const ended = new AbortController();
    void this.#watchWanted(item, unwanted, ended.signal);
    const both = AbortSignal.any([signal, unwanted.signal]);
    try {
      if (!(await this.#isWanted(item))) return { kind: 'done' };
      await withItemLock(id, { leases: this.options.leases, clock: this.options.clock, signal: both }, () =>
        measureItem(id, item, { agent, store, answers: this.#answers, signal: both }),
      );
      this.options.onDone();
      return { kind: 'done' };
    } catch (thrown) {
      if (signal.aborted) return { kind: 'returned' };
      if (unwanted.signal.aborted) return { kind: 'done' };
      const code = thrown instanceof PlatformError ? thrown.code : 'internal';
      if (!PASSING.has(code) && !ENDING.has(code)) return { kind: 'refused', reason: messageOf(thrown) };
      this.#fail(thrown);
      if (OF_THE_MACHINE.has(code)) return { kind: 'returned' };
      throw thrown;
    } finally {
      ended.abort();
    }
  }

  async #isWanted({ wantedBy }: WorkItem): Promise<boolean> {
    return wantedBy === undefined || (await this.options.leases.holderOf(wantedBy)) !== undefined;
  }

  async #watchWanted(item: WorkItem, unwanted: AbortController, ended: AbortSignal): Promise<void> {
    for (;;) {
      await this.options.clock.sleep(LOOK_MS, ended);
      if (ended.aborted) return;
      // While the store is unavailable, the caller counts as waiting.
      if (!(await this.#isWanted(item).catch(() => true))) unwanted.abort();
    }
  }
}
