import { FairSemaphore } from '../base/fair-semaphore.js';
import { isFinal } from '../evaluation/event.js';
import { type EvaluationCollections, type EvaluationRecord, evaluationHasEnded } from '../evaluation/records.js';
import type { Requirements } from '../manifest/requirements.js';
import type { Dispatcher } from './dispatcher.js';
import { EvaluationJob } from './job.js';
import type { Leases } from '../store/leases/leases.js';
import type { StoredLogs } from './stored-logs.js';

/** Who of several servers of a store runs which evaluations. If one dies, another takes its evaluations over. */
export type EvaluationLeases = Pick<Leases, 'take' | 'held' | 'release'>;

export interface JobsOptions {
  readonly collections: EvaluationCollections;
  readonly leases: EvaluationLeases;
  readonly dispatcher: Pick<Dispatcher, 'add' | 'abandon'>;
  readonly storedLogs: Pick<StoredLogs, 'replace'>;
}

export class Jobs {
  readonly #byId = new Map<string, EvaluationJob>();
  /** By the ids of evaluations: an evaluation is submitted or resumed by one caller at a time. */
  readonly #locks = new Map<string, FairSemaphore>();

  constructor(private readonly options: JobsOptions) {}

  get size(): number {
    return this.#byId.size;
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  get(id: string): EvaluationJob | undefined {
    return this.#byId.get(id);
  }

  /** Runs `work` while no other work on this evaluation runs here. @throws PlatformError as {@link FairSemaphore.run} */
  async runAlone<T>(id: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const lock = this.#locks.get(id) ?? new FairSemaphore(1);
    this.#locks.set(id, lock);
    try {
      return await lock.run(work, { signal });
    } finally {
      if (lock.isIdle) this.#locks.delete(id);
    }
  }

  async begin(record: EvaluationRecord, requirements?: Requirements): Promise<void> {
    this.#add(await this.#open(record, requirements));
  }

  /** Resumes all evaluations that have not ended, that no server runs, and that `mayRun` accepts. */
  async adoptAll(reason: string, mayRun: (record: EvaluationRecord) => boolean): Promise<void> {
    const waiting: EvaluationRecord[] = [];
    for (const state of ['running', 'queued'] as const) {
      for await (const record of this.options.collections.records.find({ state })) {
        if (mayRun(record)) waiting.push(record);
      }
    }
    const inOrder = waiting.sort((a, b) => a.submittedAt.localeCompare(b.submittedAt));
    const ids = inOrder.map(({ id }) => id);
    await this.adopt(ids, reason);
  }

  async adopt(ids: readonly string[], reason: string): Promise<void> {
    const wanted = ids.filter((id) => !this.has(id));
    if (wanted.length === 0) return;
    const others = await this.options.leases.take(wanted);
    for (const id of wanted) if (!others.has(id)) await this.runAlone(id, () => this.#goOn(id, reason));
  }

  /** Drops the evaluations that another server has taken over because this one was silent for too long. */
  async abandonLost(): Promise<void> {
    const jobs = [...this.#byId.values()];
    if (jobs.length === 0) return;
    const held = await this.options.leases.held();
    for (const job of jobs) {
      if (held.has(job.id) || this.#byId.get(job.id) !== job) continue;
      this.#byId.delete(job.id);
      this.options.dispatcher.abandon(job);
    }
  }

  clear(): void {
    this.#byId.clear();
  }

  #open(record: EvaluationRecord, requirements?: Requirements): Promise<EvaluationJob> {
    const { id } = record;
    const { leases, collections } = this.options;
    const isOwn = async (): Promise<boolean> => (await leases.held()).has(id);
    return EvaluationJob.open(record, collections, isOwn, requirements);
  }

  #add(job: EvaluationJob): void {
    const { storedLogs, leases, dispatcher } = this.options;
    this.#byId.set(job.id, job);
    storedLogs.replace(job.id);
    void job.ended.then(async () => {
      this.#byId.delete(job.id);
      // If the store fails, other servers find in the record that the evaluation has ended.
      await leases.release(job.id).catch(() => undefined);
    });
    dispatcher.add(job);
  }

  async #goOn(id: string, reason: string): Promise<void> {
    if (this.has(id)) return;
    const { collections, leases } = this.options;
    // Read only now: the previous server may have ended the evaluation before it released it.
    const record = await collections.records.get({ id });
    if (record === undefined || evaluationHasEnded(record)) return await leases.release(id);
    const job = await this.#open(record);
    const last = job.log.last?.event;
    // The previous server stopped after it stored the last event and before it stored the state.
    if (last !== undefined && isFinal(last)) {
      await job.finish(last);
      await leases.release(id);
      return;
    }
    if (record.state === 'running') await job.requeue(reason);
    this.#add(job);
  }
}
