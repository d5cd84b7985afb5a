import { setTimeout } from 'node:timers/promises';
import { PlatformError } from '../base/errors.js';
import type { AgentDirectory } from '../directory/agent-directory.js';
import { type EvaluationCollections, type EvaluationRecord, evaluationHasEnded } from '../evaluation/records.js';
import type { Dispatcher } from './dispatcher.js';
import type { Jobs } from './jobs.js';
import { storedRecord } from './known-evaluations.js';

/** Time between two checks whether another server has ended an evaluation, and the time limit: for a run, 20 s. */
const CANCEL_LOOK_MS = 500;
const CANCEL_LIMIT_MS = 24_000;

const LOST_SERVER = 'its server has ended';

export interface OtherServersOptions {
  readonly collections: EvaluationCollections;
  readonly jobs: Jobs;
  readonly agents: Pick<AgentDirectory, 'list'>;
  readonly dispatcher: Pick<Dispatcher, 'cancel' | 'attachedNames'>;
  readonly watchMs: number;
}

/** Shares a store with other servers: takes over the evaluations of one that has ended, and cancels across servers. */
export class OtherServers {
  readonly #stop = new AbortController();

  constructor(private readonly options: OtherServersOptions) {}

  /** @param adopts whether this server takes over evaluations */
  async watch({ adopts }: { readonly adopts: boolean }): Promise<void> {
    const { signal } = this.#stop;
    const { jobs, agents, dispatcher, watchMs } = this.options;
    // Without a plugin or an agent, this server leaves an evaluation to another server, which may have both.
    const canRun = ({ plugin }: EvaluationRecord): boolean => dispatcher.attachedNames().has(plugin);
    for (;;) {
      await setTimeout(watchMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        await jobs.abandonLost();
        await this.#cancelAsked();
        if (adopts && agents.list().length > 0) await jobs.adoptAll(LOST_SERVER, canRun);
      } catch {
        // The next check tries again.
      }
    }
  }

  adopt(id: string): Promise<void> {
    return this.options.jobs.adopt([id], LOST_SERVER);
  }

  /** Asks the server of an evaluation to end it. @throws PlatformError `timeout` if it has not after 24 s */
  async cancel(id: string): Promise<EvaluationRecord> {
    const { collections } = this.options;
    await collections.cancellations.put({ evaluation: id });
    const startMs = performance.now();
    while (performance.now() - startMs < CANCEL_LIMIT_MS && !this.#stop.signal.aborted) {
      const record = await storedRecord(collections, id);
      if (evaluationHasEnded(record)) return record;
      await setTimeout(CANCEL_LOOK_MS);
    }
    const problem = `another server runs the evaluation ${id} and has not ended it yet`;
    throw new PlatformError('timeout', `${problem}; it will do so as soon as it can: check again later`);
  }

  close(): void {
    this.#stop.abort();
  }

  /** Ends the evaluations that clients of other servers cancelled. */
  async #cancelAsked(): Promise<void> {
    const { collections, jobs, dispatcher } = this.options;
    for await (const cancellation of collections.cancellations.find({})) {
      const job = jobs.get(cancellation.evaluation);
      // If the store fails, the next check tries again.
      if (job !== undefined && !job.isCancelled) void dispatcher.cancel(job).catch(() => undefined);
      if (job !== undefined) continue;
      const record = await collections.records.get({ id: cancellation.evaluation });
      if (record === undefined || evaluationHasEnded(record)) await collections.cancellations.delete(cancellation);
    }
  }
}
