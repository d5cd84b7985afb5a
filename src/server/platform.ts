import type { AgentDirectory } from '../directory/agent-directory.js';
import type { TakeOptions } from '../base/fair-semaphore.js';
import type { LoggedEvent } from '../evaluation/event.js';
import type { PlatformEnd } from '../evaluation/link/link.js';
import {
  evaluationCollections,
  type EvaluationCollections,
  type EvaluationRecord,
  evaluationHasEnded,
} from '../evaluation/records.js';
import type { ResultStore } from '../store/result-store.js';
import { Acceptance, type SubmitOptions } from './acceptance.js';
import {
  type AttachedPlugin,
  DEFAULT_DISPATCH_LIMITS,
  Dispatcher,
  type DispatchLimits,
  type Working,
} from './dispatcher.js';
import { EvaluationReader, type EvaluationView } from './evaluation-reader.js';
import { Jobs } from './jobs.js';
import { storedRecord } from './known-evaluations.js';
import { SubmissionLoader } from './loading/submission-loader.js';
import { OtherServers } from './other-servers.js';
import type { Ownership } from './ownership.js';
import { type OpenResult, ResultCache } from './results.js';
import { StoredLogs } from './stored-logs.js';
import { removeHalfSubmissions } from './submission-store.js';

export interface PlatformOptions {
  readonly store: ResultStore;
  readonly agents: AgentDirectory;
  readonly limits?: Partial<DispatchLimits>;
  /** Several platforms may share one. */
  readonly loader?: SubmissionLoader;
  readonly ownership: Ownership;
}

/**
 * Accepts evaluations, gives them to plugins, and stores their events. The store has the whole state, so that a new
 * platform with the same store continues where another one ended. Several platforms may share a store: each evaluation
 * runs on one of them, and all of them can show it.
 */
export class Platform {
  readonly #collections: EvaluationCollections;
  readonly #dispatcher: Dispatcher;
  readonly #jobs: Jobs;
  readonly #acceptance: Acceptance;
  readonly #reader: EvaluationReader;
  readonly #results: ResultCache;
  readonly #others: OtherServers;

  private constructor({ store, agents, limits, loader = new SubmissionLoader(), ownership }: PlatformOptions) {
    const collections = evaluationCollections(store);
    const dispatchLimits = { ...DEFAULT_DISPATCH_LIMITS, ...limits };
    const dispatcher = new Dispatcher({ agents, limits: dispatchLimits, submissions: collections.parts, loader });
    const storedLogs = new StoredLogs(collections.events);
    const jobs = new Jobs({ collections, ownership, dispatcher, storedLogs });
    this.#collections = collections;
    this.#dispatcher = dispatcher;
    this.#jobs = jobs;
    this.#acceptance = new Acceptance({ collections, ownership, agents, dispatcher, loader, jobs });
    this.#reader = new EvaluationReader({ collections, jobs, storedLogs });
    this.#results = new ResultCache(collections.events);
    this.#others = new OtherServers({ collections, jobs, agents, dispatcher, watchMs: dispatchLimits.watchMs });
  }

  /** @param resume continues the evaluations of the store that have not ended and that no other server runs */
  static async open(options: PlatformOptions, { resume }: { readonly resume: boolean }): Promise<Platform> {
    const platform = new Platform(options);
    const { store, ownership } = options;
    if (resume) await removeHalfSubmissions(platform.#collections, ownership);
    // The servers of other machines may have the plugins and agents that this one still waits for.
    if (resume && store.isShared !== true) await platform.#jobs.adoptAll('the server was restarted', () => true);
    void platform.#others.watch({ adopts: resume });
    return platform;
  }

  /**
   * Checks an evaluation and accepts it. Submitting the same content again under the same id gives the same evaluation.
   *
   * @param id made by the client
   * @param submission in wire format. Its buffer may be empty afterwards, see {@link SubmissionLoader.load}
   * @param options the client, its trace, and a signal: a submission that still waits when it aborts is not read
   * @throws PlatformError `manifest`, `model` or `usage` for a wrong submission, `unavailable` or `unsupported` without
   *   a plugin or an agent that fits, `exhausted` if there are too many evaluations, the reason of the aborted signal
   */
  submit(id: string, submission: Uint8Array, options: SubmitOptions = {}): Promise<EvaluationRecord> {
    return this.#acceptance.submit(id, submission, options);
  }

  get(id: string, signal?: AbortSignal): Promise<EvaluationView> {
    return this.#reader.get(id, signal);
  }

  openResult(id: string, event: LoggedEvent, waiting?: TakeOptions): Promise<OpenResult> {
    return this.#results.open(id, event, waiting);
  }

  list(): Promise<readonly EvaluationRecord[]> {
    return this.#reader.list();
  }

  follow(id: string, afterSequence: number, signal: AbortSignal): AsyncGenerator<LoggedEvent> {
    return this.#reader.follow(id, afterSequence, signal);
  }

  /** Ends an evaluation, unless it has ended. @throws PlatformError `not_found`, and as {@link OtherServers.cancel} */
  async cancel(id: string): Promise<EvaluationRecord> {
    if (!this.#jobs.has(id) && !evaluationHasEnded(await this.#recordOf(id))) await this.#others.adopt(id);
    const job = this.#jobs.get(id);
    if (job !== undefined) {
      this.#dispatcher.cancel(job);
      await job.ended;
      return job.record;
    }
    const record = await this.#recordOf(id);
    return evaluationHasEnded(record) ? record : await this.#others.cancel(id);
  }

  plugins(): readonly AttachedPlugin[] {
    return this.#dispatcher.plugins();
  }

  working(): readonly Working[] {
    return this.#dispatcher.working();
  }

  /** Evaluations of this server that have not ended. */
  get jobs(): number {
    return this.#jobs.size;
  }

  attach(link: PlatformEnd, receivedBytes?: () => number): Promise<void> {
    return this.#dispatcher.attach(link, receivedBytes);
  }

  close(): void {
    this.#others.close();
    this.#dispatcher.close();
    this.#jobs.clear();
  }

  #recordOf(id: string): Promise<EvaluationRecord> {
    return storedRecord(this.#collections, id);
  }
}
