import { PlatformError } from '../base/errors.js';
import type { AgentDirectory } from '../directory/agent-directory.js';
import type { ResultStore } from '../store/result-store.js';
import { type AttachedPlugin, DEFAULT_DISPATCH_LIMITS, Dispatcher, type DispatchLimits } from './dispatcher.js';
import { isFinal, type LoggedEvent } from '../evaluation/event.js';
import { EndedLogs, type OpenLog } from './ended-logs.js';
import { EvaluationJob } from './job.js';
import type { PlatformEnd } from '../evaluation/link/link.js';
import { evaluationCollections, type EvaluationCollections, type EvaluationRecord } from '../evaluation/records.js';
import type { Described } from './loading/messages.js';
import { type LoadLimits, SubmissionLoader } from './loading/submission-loader.js';
import { KeyedPlaces } from './keyed-places.js';
import type { TakeOptions } from './places.js';
import { ResultCache } from './results.js';
import { putSubmission, removeHalfSubmissions } from './submission-store.js';
import { unmetRequirements } from '../manifest/index.js';

/** Evaluations that have not ended. */
const MAX_JOBS = 1000;

const ID = /^[A-Za-z0-9-]{8,64}$/;

/** The most evaluations that are listed. */
const MOST_LISTED = 1000;

export interface PlatformOptions {
  readonly store: ResultStore;
  readonly agents: AgentDirectory;
  readonly limits?: Partial<DispatchLimits>;
  readonly loadLimits?: Partial<LoadLimits>;
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
 * platform with the same store continues where another one ended.
 */
export class Platform {
  readonly #collections: EvaluationCollections;
  readonly #agents: AgentDirectory;
  readonly #dispatcher: Dispatcher;
  readonly #loader: SubmissionLoader;
  /** Those that have not ended. */
  readonly #jobs = new Map<string, EvaluationJob>();
  /** By the ids of evaluations. */
  readonly #submitting = new KeyedPlaces();
  readonly #endedLogs: EndedLogs;
  readonly #results: ResultCache;
  #listing: Promise<readonly EvaluationRecord[]> | undefined;

  private constructor({ store, agents, limits, loadLimits }: PlatformOptions) {
    this.#collections = evaluationCollections(store);
    this.#endedLogs = new EndedLogs(this.#collections.events);
    this.#results = new ResultCache(this.#collections.events);
    this.#agents = agents;
    this.#loader = new SubmissionLoader(loadLimits);
    this.#dispatcher = new Dispatcher({
      agents,
      limits: { ...DEFAULT_DISPATCH_LIMITS, ...limits },
      submissions: this.#collections.parts,
      loader: this.#loader,
    });
  }

  /** @param resume continues the evaluations of the store that have not ended */
  static async open(options: PlatformOptions, { resume }: { readonly resume: boolean }): Promise<Platform> {
    const platform = new Platform(options);
    if (resume) await platform.#resume();
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
    if (known !== undefined) {
      if (known.digest === digest) return await this.#takenOn(known);
      throw new PlatformError(
        'usage',
        `evaluation_id: ${id} is another evaluation already; make a new id for this one`,
      );
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
    await putSubmission(record, submission, this.#collections);
    this.#add(await EvaluationJob.open(record, this.#collections, requirements));
    return record;
  }

  /** An evaluation that was submitted before. Where the store failed right after it had its record, it does not run yet. */
  async #takenOn(known: EvaluationRecord): Promise<EvaluationRecord> {
    const { id } = known;
    // A job is there until the store has the state of its end.
    if (this.#jobs.has(id)) return known;
    const record = (await this.#collections.records.get({ id })) ?? known;
    const isUnended = record.state === 'queued' || record.state === 'running';
    if (isUnended) this.#add(await EvaluationJob.open(record, this.#collections));
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
    // After the log: a client that sees the last event also sees its state.
    return { record: this.#jobs.get(id)?.record ?? (await this.#recordOf(id)), last: log.last };
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
    const { log, close } = await this.#logOf(id, signal);
    try {
      let after = { sequence: afterSequence, measurings: 0 };
      while (!signal.aborted) {
        const { events, cursor } = log.read(after);
        after = cursor;
        yield* events;
        if (log.hasEnded && log.read(after).events.length === 0) return;
        await log.changed(after, signal);
      }
    } finally {
      close();
    }
  }

  async #logOf(id: string, signal?: AbortSignal): Promise<OpenLog> {
    const job = this.#jobs.get(id);
    return job === undefined ? await this.#endedLogs.open(id, signal) : { log: job.log, close: () => {} };
  }

  /** Ends an evaluation, unless it has ended. @throws PlatformError `not_found` */
  async cancel(id: string): Promise<EvaluationRecord> {
    const job = this.#jobs.get(id);
    if (job === undefined) return this.#recordOf(id);
    this.#dispatcher.cancel(job);
    await job.ended;
    return job.record;
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
    this.#dispatcher.close();
    this.#jobs.clear();
  }

  #add(job: EvaluationJob): void {
    this.#jobs.set(job.id, job);
    void job.ended.then(() => this.#jobs.delete(job.id));
    this.#dispatcher.add(job);
  }

  async #resume(): Promise<void> {
    await removeHalfSubmissions(this.#collections);
    for (const state of ['queued', 'running'] as const) {
      for await (const record of this.#collections.records.find({ state })) {
        const job = await EvaluationJob.open(record, this.#collections);
        const last = job.log.last?.event;
        // The server ended after it stored the last event and before it stored the state.
        if (last !== undefined && isFinal(last)) await job.finish(last);
        else {
          if (record.state === 'running') await job.requeue('the server was restarted');
          this.#add(job);
        }
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
