import type { LoggedEvent } from '../evaluation/event.js';
import type { EvaluationCollections, EvaluationRecord } from '../evaluation/records.js';
import { recordAfter } from './job.js';
import type { Jobs } from './jobs.js';
import { storedRecord } from './known-evaluations.js';
import type { OpenLog, StoredLogs } from './stored-logs.js';

const MAX_LISTED = 1000;

export interface ReaderOptions {
  readonly collections: Pick<EvaluationCollections, 'records'>;
  readonly jobs: Pick<Jobs, 'has' | 'get'>;
  readonly storedLogs: Pick<StoredLogs, 'open'>;
}

/** Reads evaluations: those of this server, those of other servers of the same store, and those that have ended. */
export class EvaluationReader {
  #listing: Promise<readonly EvaluationRecord[]> | undefined;

  constructor(private readonly options: ReaderOptions) {}

  async get(id: string, signal?: AbortSignal) {
    const { collections, jobs } = this.options;
    if (!jobs.has(id)) await storedRecord(collections, id);
    const { log, close } = await this.#openLog(id, signal);
    close();
    const record = jobs.get(id)?.record ?? (await storedRecord(collections, id));
    // A client that sees the last event also sees its state.
    return { record: recordAfter(record, log.last), last: log.last };
  }

  /** The newest 1000, newest first. Concurrent callers share one read of the store. */
  list(): Promise<readonly EvaluationRecord[]> {
    this.#listing ??= this.#newest().finally(() => (this.#listing = undefined));
    return this.#listing;
  }

  async #newest(): Promise<readonly EvaluationRecord[]> {
    const { collections, jobs } = this.options;
    let newest: EvaluationRecord[] = [];
    const sort = (): void => {
      newest = newest.sort((a, b) => b.submittedAt.localeCompare(a.submittedAt)).slice(0, MAX_LISTED);
    };
    for await (const record of collections.records.find({})) {
      newest.push(jobs.get(record.id)?.record ?? record);
      if (newest.length >= 2 * MAX_LISTED) sort();
    }
    sort();
    return newest;
  }

  async *follow(id: string, afterSequence: number, signal: AbortSignal): AsyncGenerator<LoggedEvent> {
    const { collections, jobs } = this.options;
    if (!jobs.has(id)) await storedRecord(collections, id);
    let sequence = afterSequence;
    while (!signal.aborted) {
      const { log, replaced, close } = await this.#openLog(id, signal);
      const until = AbortSignal.any([signal, replaced]);
      try {
        let after = { sequence, measurings: 0 };
        while (!until.aborted) {
          const { events, cursor } = log.read(after);
          after = cursor;
          sequence = cursor.sequence;
          yield* events;
          if (log.hasEnded && log.read(after).events.length === 0) return;
          await log.changed(after, until);
        }
      } finally {
        close();
      }
    }
  }

  async #openLog(id: string, signal?: AbortSignal): Promise<OpenLog> {
    const job = this.options.jobs.get(id);
    if (job === undefined) return await this.options.storedLogs.open(id, signal);
    return { log: job.log, replaced: job.left.signal, close: () => {} };
  }
}
