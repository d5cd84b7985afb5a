import { setTimeout } from 'node:timers/promises';
import type { EventDocument } from '../evaluation/records.js';
import type { Collection } from '../store/collection.js';
import { RecentlyUsed } from '../base/recently-used.js';
import { EventLog } from './event-log.js';
import { type Release, FairSemaphore } from '../base/fair-semaphore.js';

const MAX_OPEN = 32;

/** The most characters of logs of ended evaluations that are kept for later readers. */
const MAX_KEPT = 16 * 2 ** 20;

/** Time between two checks for new events of an evaluation that another server runs. */
const LOOK_MS = 500;

export interface OpenLog {
  readonly log: EventLog;
  /** Aborted when another log has the further events, because the evaluation has moved to or from this server. */
  readonly replaced: AbortSignal;
  readonly close: () => void;
}

interface Shared {
  readonly log: Promise<EventLog>;
  readonly leave: Release;
  /** Aborted when the log has no readers any more, or is replaced. */
  readonly end: AbortController;
  readers: number;
}

/**
 * The events of evaluations that do not run here: they have ended, or another server runs them. Readers share one read;
 * ended logs that were read last are kept, because reading a log means reading the result, too.
 */
export class StoredLogs {
  readonly #shared = new Map<string, Shared>();
  readonly #semaphore = new FairSemaphore(MAX_OPEN);
  readonly #ended = new RecentlyUsed<EventLog>(MAX_KEPT);

  constructor(private readonly documents: Collection<EventDocument>) {}

  async open(evaluation: string, signal?: AbortSignal): Promise<OpenLog> {
    const ended = this.#ended.get(evaluation);
    if (ended !== undefined) return { log: ended, replaced: new AbortController().signal, close: () => {} };
    const shared = this.#shared.get(evaluation) ?? (await this.#read(evaluation, signal));
    shared.readers++;
    let isOpen = true;
    const close = (): void => {
      if (isOpen) this.#leave(evaluation, shared);
      isOpen = false;
    };
    try {
      const log = await shared.log;
      if (log.hasEnded) this.#ended.keep(evaluation, log, log.characters);
      return { log, replaced: shared.end.signal, close };
    } catch (error) {
      close();
      throw error;
    }
  }

  replace(evaluation: string): void {
    const shared = this.#shared.get(evaluation);
    this.#shared.delete(evaluation);
    this.#ended.delete(evaluation);
    shared?.end.abort();
  }

  async #read(evaluation: string, signal?: AbortSignal): Promise<Shared> {
    const leave = await this.#semaphore.take({ signal });
    const meanwhile = this.#shared.get(evaluation);
    if (meanwhile !== undefined) {
      leave();
      return meanwhile;
    }
    const log = EventLog.open(evaluation, this.documents);
    const shared = { log, leave, end: new AbortController(), readers: 0 };
    this.#shared.set(evaluation, shared);
    void keepUp(shared);
    return shared;
  }

  #leave(evaluation: string, shared: Shared): void {
    if (--shared.readers > 0) return;
    if (this.#shared.get(evaluation) === shared) this.#shared.delete(evaluation);
    shared.end.abort();
    shared.leave();
  }
}

/** Reads events that another server adds, while the log has readers. While the store is unavailable, tries again. */
async function keepUp({ log, end: { signal } }: Shared): Promise<void> {
  const opened = await log.catch(() => undefined);
  while (opened !== undefined && !opened.hasEnded) {
    await setTimeout(LOOK_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    await opened.catchUp().catch(() => undefined);
  }
}
