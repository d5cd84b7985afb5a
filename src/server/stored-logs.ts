import { setTimeout } from 'node:timers/promises';
import { RecentlyUsed } from '../base/recently-used.js';
import type { EventDocument } from '../evaluation/records.js';
import type { Collection } from '../store/collection.js';
import { EventLog } from './event-log.js';
import { SharedReads } from './shared-reads.js';

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

/**
 * The events of evaluations that do not run here: they have ended, or another server runs them. Readers share one read;
 * ended logs that were read last are kept, because reading a log means reading the result, too.
 */
export class StoredLogs {
  readonly #reads = new SharedReads<EventLog>(MAX_OPEN);
  readonly #ended = new RecentlyUsed<EventLog>(MAX_KEPT);

  constructor(private readonly documents: Collection<EventDocument>) {}

  async open(evaluation: string, signal?: AbortSignal): Promise<OpenLog> {
    const ended = this.#ended.get(evaluation);
    if (ended !== undefined) return { log: ended, replaced: new AbortController().signal, close: () => {} };
    const read = async (end: AbortSignal): Promise<EventLog> => {
      const log = await EventLog.open(evaluation, this.documents);
      void keepUp(log, end);
      return log;
    };
    const { value: log, end: replaced, close } = await this.#reads.open(evaluation, read, { signal });
    if (log.hasEnded) this.#ended.keep(evaluation, log, log.characters);
    return { log, replaced, close };
  }

  replace(evaluation: string): void {
    this.#ended.delete(evaluation);
    this.#reads.replace(evaluation);
  }
}

/** Reads events that another server adds, while the log has readers. While the store is unavailable, tries again. */
async function keepUp(log: EventLog, signal: AbortSignal): Promise<void> {
  while (!log.hasEnded) {
    await setTimeout(LOOK_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    await log.catchUp().catch(() => undefined);
  }
}
