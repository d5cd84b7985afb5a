import { setTimeout } from 'node:timers/promises';
import { PlatformError } from '../base/errors.js';
import type { AgentDirectory } from '../directory/agent-directory.js';
import type { ResultStore } from '../store/result-store.js';
import { type AttachedPlugin, DEFAULT_DISPATCH_LIMITS, Dispatcher, type DispatchLimits } from './dispatcher.js';
import { isFinal, type LoggedEvent } from '../evaluation/event.js';
import { EvaluationJob, recordAfter } from './job.js';
import type { PlatformEnd } from '../evaluation/link/link.js';
import {
  evaluationCollections,
  type EvaluationCollections,
  type EvaluationRecord,
  hasEnded,
} from '../evaluation/records.js';
import type { Described } from './loading/messages.js';
import { type LoadLimits, SubmissionLoader } from './loading/submission-loader.js';
import { KeyedPlaces } from './keyed-places.js';
import { type Ownership, SOLE_OWNERSHIP } from './ownership.js';
import type { TakeOptions } from './places.js';
import { ResultCache } from './results.js';
import { type OpenLog, StoredLogs } from './stored-logs.js';
import { putSubmission, removeHalfSubmissions } from './submission-store.js';
import { type Requirements, unmetRequirements } from '../manifest/index.js';

/** Evaluations that have not ended. */
const MAX_JOBS = 1000;

const ID = /^[A-Za-z0-9-]{8,64}$/;

/** The most evaluations that are listed. */
const MOST_LISTED = 1000;

/** Time between two looks whether another server has ended an evaluation, and the limit of that. */
const CANCEL_LOOK_MS = 500;
const CANCEL_LIMIT_MS = 60_000;

/** Why an evaluation waits that another server had. */
const LOST_SERVER = 'its server has ended';

export interface PlatformOptions {
  readonly store: ResultStore;
  readonly agents: AgentDirectory;
  readonly limits?: Partial<DispatchLimits>;
  readonly loadLimits?: Partial<LoadLimits>;
  /** The evaluations of the store that it may run; by default all of them. */
  readonly ownership?: Ownership | undefined;
}

export interface SubmitOptions extends TakeOptions {
  readonly traceContext?: Readonly<Record<string, string>> | undefined;
}

/** The public state of an evaluation. */
export interface EvaluationView {
  readonly record: EvaluationRecord;
  readonly last: LoggedEvent | undefined;
}

/**
 * Accepts evaluations, gives them to plugins, and stores their events. The store has the whole state, so that a new
 * platform with the same store continues where another one ended. Several platforms may share a store: each evaluation
 * runs on one of them, and all of them show it.
 */
export class Platform {
  readonly #collections: EvaluationCollections;
  readonly #agents: AgentDirectory;
  readonly #dispatcher: Dispatcher;
  readonly #loader: SubmissionLoader;
  /** Those that have not ended. */
  readonly #jobs = new Map<string, EvaluationJob>();
  /** By the ids of evaluations: each is submitted, or gone on with, one at a time. */
  readonly #submitting = new KeyedPlaces();
  readonly #storedLogs: StoredLogs;
  readonly #results: ResultCache;
  readonly #ownership: Ownership;
  readonly #limits: DispatchLimits;
  readonly #stop = new AbortController();
  #listing: Promise<readonly EvaluationRecord[]> | undefined;

  private constructor({ store, agents, limits, loadLimits, ownership = SOLE_OWNERSHIP }: PlatformOptions) {
    this.#collections = evaluationCollections(store);
    this.#ownership = ownership;
    this.#limits = { ...DEFAULT_DISPATCH_LIMITS, ...limits };
    this.#storedLogs = new StoredLogs(this.#collections.events);
    this.#results = new ResultCache(this.#collections.events);
    this.#agents = agents;
    this.#loader = new SubmissionLoader(loadLimits);
    this.#dispatcher = new Dispatcher({
      agents,
      limits: this.#limits,
      submissions: this.#collections.parts,
      loader: this.#loader,
    });
  }

  /** @param resume continues the evaluations of the store that have not ended and that no other server runs */
  static async open(options: PlatformOptions, { resume }: { readonly resume: boolean }): Promise<Platform> {
    const platform = new Platform(options);
    if (resume) await removeHalfSubmissions(platform.#collections, platform.#ownership);
    if (resume && !platform.#ownership.isShared) await platform.#adoptAll('the server was restarted', () => true);
    if (platform.#ownership.isShared) void platform.#watch({ adopts: resume });
    return platform;
  }

  /**
   * Checks an evaluation and takes it on. The same under the same id is the same evaluation.
   *
   * @param id made by the client
   * @param submission as it travels. Its bytes are gone afterwards
   * @param options who submits it; a submission that waits is not read after its signal is aborted
   * @throws PlatformError `manifest`, `model` or `usage` for a wrong submission, `unavailable` or `unsupported` without
   *   a plugin or an agent that fits, `exhausted` where there are too many, what the signal is aborted with
   */
  submit(id: string, submission: Uint8Array, options: SubmitOptions = {}): Promise<EvaluationRecord> {
    return this.#submitting.run(id, () => this.#submit(id, submission, options), options.signal);
  }

  async #submit(
    id: string,
    received: Uint8Array,
    { traceContext, ...waiting }: SubmitOptions,
  ): Promise<EvaluationRecord> {
    if (!ID.test(id)) {
      throw new PlatformError('usage', 'evaluation_id: expected 8 to 64 letters, digits and hyphens, such as a UUID');
    }
    const known = await this.#collections.records.get({ id });
    let described: Described | undefined;
    const decide = (it: Described): boolean => {
      described = it;
      return known === undefined && this.#canRun(it);
    };
    const submission = await this.#loader.load(received, decide, waiting);
    if (described === undefined) throw new PlatformError('internal', 'the submission has no manifest');
    const { digest, name, plugin, requirements } = described;
    const isOwn = known === undefined && (await this.#ownership.take([id])).has(id);
    // Another server may have taken it on meanwhile.
    const there = known ?? (await this.#collections.records.get({ id }));
    if (there !== undefined) {
      if (there.digest === digest) return await this.#takenOn(there);
      throw new PlatformError(
        'usage',
        `evaluation_id: ${id} is another evaluation already; make a new id for this one`,
      );
    }
    if (!isOwn) {
      throw new PlatformError('unavailable', `another server is just taking on the evaluation ${id}; submit it again`);
    }
    if (submission === undefined) throw new PlatformError('internal', 'the submission has no models');
    const now = new Date().toISOString();
    const record: EvaluationRecord = {
      id,
      name,
      plugin,
      state: 'queued',
      digest,
      attempts: 0,
      submittedAt: now,
      changedAt: now,
      traceContext: { ...traceContext },
    };
    try {
      await putSubmission(record, submission, this.#collections);
    } catch (error) {
      // So that another server can take it on.
      await this.#ownership.release(id).catch(() => undefined);
      throw error;
    }
    this.#add(await this.#openJob(record, requirements));
    return record;
  }

  /**
   * An evaluation that was submitted before, here or to another server. Where the store failed right after it had its
   * record, it does not run yet.
   */
  async #takenOn(known: EvaluationRecord): Promise<EvaluationRecord> {
    const { id } = known;
    // A job is there until the store has the state of its end.
    if (this.#jobs.has(id)) return known;
    const record = (await this.#collections.records.get({ id })) ?? known;
    if (!hasEnded(record) && (await this.#ownership.take([id])).has(id)) this.#add(await this.#openJob(record));
    return record;
  }

  /** Checks that precede the reading of graphs. @throws PlatformError as {@link submit} */
  #canRun({ plugin, requirements }: Described): boolean {
    if (this.#jobs.size >= MAX_JOBS) {
      throw new PlatformError('exhausted', `${this.#jobs.size} evaluations wait or run already; try again later`);
    }
    this.#dispatcher.requirePlugin(plugin);
    this.#agents.choose((system) => unmetRequirements(requirements, system));
    return true;
  }

  /** Without its result. @throws PlatformError `not_found` */
  async get(id: string, signal?: AbortSignal): Promise<EvaluationView> {
    if (!this.#jobs.has(id)) await this.#recordOf(id);
    const { log, close } = await this.#logOf(id, signal);
    close();
    const record = this.#jobs.get(id)?.record ?? (await this.#recordOf(id));
    // A client that sees the last event also sees its state.
    return { record: recordAfter(record, log.last?.event), last: log.last };
  }

  /** The result that came with an event of an evaluation, as JSON; undefined where there is none. */
  result(id: string, { sequence, event }: LoggedEvent): Promise<string | undefined> {
    return event.kind === 'done' ? this.#results.get(id, sequence) : Promise.resolve(undefined);
  }

  /** The newest 1000, newest first. Concurrent callers share one read of the store. */
  list(): Promise<readonly EvaluationRecord[]> {
    this.#listing ??= this.#newest().finally(() => (this.#listing = undefined));
    return this.#listing;
  }

  async #newest(): Promise<readonly EvaluationRecord[]> {
    let newest: EvaluationRecord[] = [];
    const sort = (): void => {
      newest = newest.sort((a, b) => b.submittedAt.localeCompare(a.submittedAt)).slice(0, MOST_LISTED);
    };
    for await (const record of this.#collections.records.find({})) {
      newest.push(this.#jobs.get(record.id)?.record ?? record);
      if (newest.length >= 2 * MOST_LISTED) sort();
    }
    sort();
    return newest;
  }

  /**
   * The events after a sequence number, and those to come, without the result; ends with the evaluation, or the signal.
   *
   * @throws PlatformError `not_found`
   */
  async *follow(id: string, afterSequence: number, signal: AbortSignal): AsyncGenerator<LoggedEvent> {
    if (!this.#jobs.has(id)) await this.#recordOf(id);
    let sequence = afterSequence;
    while (!signal.aborted) {
      const { log, replaced, close } = await this.#logOf(id, signal);
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

  async #logOf(id: string, signal?: AbortSignal): Promise<OpenLog> {
    const job = this.#jobs.get(id);
    if (job === undefined) return await this.#storedLogs.open(id, signal);
    return { log: job.log, replaced: job.left.signal, close: () => {} };
  }

  /** Ends an evaluation, unless it has ended. @throws PlatformError `not_found` */
  async cancel(id: string): Promise<EvaluationRecord> {
    const job = this.#jobs.get(id) ?? (await this.#adoptOne(id));
    if (job !== undefined) {
      this.#dispatcher.cancel(job);
      await job.ended;
      return job.record;
    }
    const record = await this.#recordOf(id);
    return hasEnded(record) || !this.#ownership.isShared ? record : await this.#cancelElsewhere(id);
  }

  /** Has the server that runs an evaluation end it. @throws PlatformError `timeout` where it does not for a minute */
  async #cancelElsewhere(id: string): Promise<EvaluationRecord> {
    await this.#collections.cancellations.put({ evaluation: id });
    const startMs = performance.now();
    while (performance.now() - startMs < CANCEL_LIMIT_MS && !this.#stop.signal.aborted) {
      const record = await this.#recordOf(id);
      if (hasEnded(record)) return record;
      await setTimeout(CANCEL_LOOK_MS);
    }
    const problem = `another server runs the evaluation ${id} and has not ended it yet`;
    throw new PlatformError('timeout', `${problem}; it will, as soon as it can: look again later`);
  }

  /** The plugins that are attached now. */
  plugins(): readonly AttachedPlugin[] {
    return this.#dispatcher.plugins();
  }

  /** See {@link Dispatcher.attach}. */
  attach(link: PlatformEnd, receivedBytes?: () => number): Promise<void> {
    return this.#dispatcher.attach(link, receivedBytes);
  }

  /** Lets go of all plugins. Evaluations that have not ended stay in the store for the next platform. */
  close(): void {
    this.#stop.abort();
    this.#dispatcher.close();
    this.#jobs.clear();
  }

  #openJob(record: EvaluationRecord, requirements?: Requirements): Promise<EvaluationJob> {
    const { id } = record;
    const isOwn = async (): Promise<boolean> => (await this.#ownership.kept([id])).has(id);
    return EvaluationJob.open(record, this.#collections, isOwn, requirements);
  }

  #add(job: EvaluationJob): void {
    this.#jobs.set(job.id, job);
    this.#storedLogs.replace(job.id);
    void job.ended.then(async () => {
      this.#jobs.delete(job.id);
      // Where the store fails, others find that it has ended.
      await this.#ownership.release(job.id).catch(() => undefined);
    });
    this.#dispatcher.add(job);
  }

  /** Goes on with all evaluations that have not ended and that no server runs, as far as this one may. */
  async #adoptAll(reason: string, mayRun: (record: EvaluationRecord) => boolean): Promise<void> {
    const waiting: string[] = [];
    for (const state of ['queued', 'running'] as const) {
      for await (const record of this.#collections.records.find({ state })) if (mayRun(record)) waiting.push(record.id);
    }
    await this.#adopt(waiting, reason);
  }

  /** The job of an evaluation that no server runs; undefined where there is none. */
  async #adoptOne(id: string): Promise<EvaluationJob | undefined> {
    if (!this.#ownership.isShared || hasEnded(await this.#recordOf(id))) return undefined;
    await this.#adopt([id], LOST_SERVER);
    return this.#jobs.get(id);
  }

  async #adopt(ids: readonly string[], reason: string): Promise<void> {
    for (const id of await this.#ownership.take(ids.filter((id) => !this.#jobs.has(id)))) {
      await this.#submitting.run(id, () => this.#goOn(id, reason));
    }
  }

  async #goOn(id: string, reason: string): Promise<void> {
    if (this.#jobs.has(id)) return;
    // Only now: the server that had it may have ended it before it gave it up.
    const record = await this.#collections.records.get({ id });
    if (record === undefined || hasEnded(record)) return await this.#ownership.release(id);
    const job = await this.#openJob(record);
    const last = job.log.last?.event;
    // A server ended after it stored the last event and before it stored the state.
    if (last !== undefined && isFinal(last)) {
      await job.finish(last);
      await this.#ownership.release(id);
      return;
    }
    if (record.state === 'running') await job.requeue(reason);
    this.#add(job);
  }

  /** Looks from time to time at what other servers of the store do. Where the store is away, the next look finds it. */
  async #watch({ adopts }: { readonly adopts: boolean }): Promise<void> {
    const { signal } = this.#stop;
    for (;;) {
      await setTimeout(this.#limits.watchMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        await this.#abandonLost();
        await this.#cancelAsked();
        // Without a plugin or an agent, another server has better chances.
        const mayRun = ({ plugin }: EvaluationRecord): boolean => this.#dispatcher.hasPlugin(plugin);
        if (adopts && this.#agents.list().length > 0) await this.#adoptAll(LOST_SERVER, mayRun);
      } catch {
        // As said above.
      }
    }
  }

  /** Lets go of what another server has taken over, because this one was silent for too long. */
  async #abandonLost(): Promise<void> {
    const jobs = [...this.#jobs.values()];
    const kept = await this.#ownership.kept(jobs.map(({ id }) => id));
    for (const job of jobs) {
      if (kept.has(job.id) || this.#jobs.get(job.id) !== job) continue;
      this.#jobs.delete(job.id);
      this.#dispatcher.abandon(job);
    }
  }

  /** Ends what clients of other servers want to end. */
  async #cancelAsked(): Promise<void> {
    for await (const cancellation of this.#collections.cancellations.find({})) {
      const job = this.#jobs.get(cancellation.evaluation);
      if (job !== undefined && !job.isCancelled) this.#dispatcher.cancel(job);
      if (job !== undefined) continue;
      const record = await this.#collections.records.get({ id: cancellation.evaluation });
      if (record === undefined || hasEnded(record)) {
        await this.#collections.cancellations.delete(cancellation);
      }
    }
  }

  async #recordOf(id: string): Promise<EvaluationRecord> {
    const record = ID.test(id) ? await this.#collections.records.get({ id }) : undefined;
    if (record !== undefined) return record;
    throw new PlatformError(
      'not_found',
      `there is no evaluation ${ID.test(id) ? id : 'of that id'} here; \`mlmodelscope evaluations list\` shows those that are`,
    );
  }
}
