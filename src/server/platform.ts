import { setTimeout } from 'node:timers/promises';
import { PlatformError } from '../base/errors.js';
import type { AgentDirectory } from '../directory/agent-directory.js';
import {
  evaluationCollections,
  type EvaluationCollections,
  type EvaluationRecord,
  evaluationHasEnded,
} from '../evaluation/records.js';
import type { ResultStore } from '../store/result-store.js';
import { Acceptance, type SubmitOptions } from './acceptance.js';
import { DEFAULT_DISPATCH_LIMITS, Dispatcher, type DispatchLimits } from './dispatcher.js';
import { EvaluationReader } from './evaluation-reader.js';
import { type EvaluationLeases, Jobs } from './jobs.js';
import { storedRecord } from './known-evaluations.js';
import { SubmissionLoader } from './loading/submission-loader.js';
import { OtherServers } from './other-servers.js';
import { ResultCache } from './results.js';
import { StoredLogs } from './stored-logs.js';
import { removeHalfSubmissions } from './submission-store.js';

export interface PlatformOptions {
  readonly store: ResultStore;
  readonly agents: AgentDirectory;
  readonly limits?: Partial<DispatchLimits>;
  /** Several platforms may share one. */
  readonly loader?: SubmissionLoader | undefined;
  readonly leases: EvaluationLeases;
  /** Plugins that are started here, again whenever they end: evaluations wait for them. */
  readonly ownPlugins?: readonly string[] | undefined;
}

/** Accepts evaluations and gives them to plugins. The store has the whole state: several platforms may share it. */
export class Platform {
  readonly #collections: EvaluationCollections;
  readonly #dispatcher: Dispatcher;
  readonly #jobs: Jobs;
  readonly #acceptance: Acceptance;
  readonly #reader: EvaluationReader;
  readonly #results: ResultCache;
  readonly #others: OtherServers;
  readonly #answerMs: number;

  private constructor(options: PlatformOptions) {
    const { store, agents, limits, loader = new SubmissionLoader(), leases, ownPlugins = [] } = options;
    const collections = evaluationCollections(store);
    const dispatchLimits = { ...DEFAULT_DISPATCH_LIMITS, ...limits };
    const dispatcher = new Dispatcher({
      agents,
      limits: dispatchLimits,
      submissions: collections.parts,
      loader,
      ownPlugins,
    });
    const storedLogs = new StoredLogs(collections.events);
    const jobs = new Jobs({ collections, leases, dispatcher, storedLogs });
    this.#collections = collections;
    this.#answerMs = dispatchLimits.answerMs;
    this.#dispatcher = dispatcher;
    this.#jobs = jobs;
    this.#acceptance = new Acceptance({ collections, leases, agents, dispatcher, loader, jobs });
    this.#reader = new EvaluationReader({ collections, jobs, storedLogs });
    this.#results = new ResultCache(collections.events);
    this.#others = new OtherServers({ collections, jobs, agents, dispatcher, watchMs: dispatchLimits.watchMs });
  }

  /** @param resume continues the evaluations of the store that have not ended and that no other server runs */
  static async open(options: PlatformOptions, { resume }: { readonly resume: boolean }): Promise<Platform> {
    const platform = new Platform(options);
    const { store, leases } = options;
    if (resume) await removeHalfSubmissions(platform.#collections, leases);
    // The servers of other machines may have the plugins and agents that this one still waits for.
    if (resume && store.isShared !== true) await platform.#jobs.adoptAll('the server was restarted', () => true);
    void platform.#others.watch({ adopts: resume });
    return platform;
  }

  /**
   * The same content again under the same id gives the same evaluation. `submission`: {@link SubmissionLoader.load}.
   * @throws PlatformError `manifest`, `model` or `usage` for a wrong submission, `unavailable` or `unsupported` without
   * a plugin or an agent that fits, `exhausted` if there are too many evaluations, the reason of the aborted signal
   */
  submit(id: string, submission: Uint8Array, options: SubmitOptions = {}): Promise<EvaluationRecord> {
    return this.#acceptance.submit(id, submission, options);
  }

  /** @throws PlatformError `not_found`, `timeout` */
  readonly get = (id: string, signal?: AbortSignal) => this.#inTime(this.#reader.get(id, signal));
  /** @throws PlatformError `timeout` */
  readonly list = () => this.#inTime(this.#reader.list());
  readonly follow: EvaluationReader['follow'] = (...asked) => this.#reader.follow(...asked);
  readonly openResult: ResultCache['open'] = (...asked) => this.#results.open(...asked);
  readonly plugins = () => this.#dispatcher.plugins();
  readonly working = () => this.#dispatcher.working();
  readonly attach: Dispatcher['attach'] = (...asked) => this.#dispatcher.attach(...asked);

  /**
   * Ends an evaluation, unless it has ended.
   *
   * @throws PlatformError `not_found`, `timeout`, as {@link Dispatcher.cancel}, and as {@link OtherServers.cancel}
   */
  readonly cancel = (id: string): Promise<EvaluationRecord> => this.#inTime(this.#cancel(id));

  async #cancel(id: string): Promise<EvaluationRecord> {
    if (!this.#jobs.has(id) && !evaluationHasEnded(await storedRecord(this.#collections, id)))
      await this.#others.adopt(id);
    const job = this.#jobs.get(id);
    if (job !== undefined) {
      await this.#dispatcher.cancel(job);
      return job.record;
    }
    const record = await storedRecord(this.#collections, id);
    return evaluationHasEnded(record) ? record : await this.#others.cancel(id);
  }

  async #inTime<T>(answer: Promise<T>): Promise<T> {
    const answered = new AbortController();
    const late = async (): Promise<never> => {
      await setTimeout(this.#answerMs, undefined, { signal: answered.signal });
      const problem = `the store of this server has not answered for ${this.#answerMs / 1000} s`;
      throw new PlatformError('timeout', `${problem}; the server's messages name it: try again when it answers`);
    };
    try {
      return await Promise.race([answer, late()]);
    } finally {
      answered.abort();
    }
  }

  /** Evaluations of this server that have not ended. */
  get jobs(): number {
    return this.#jobs.size;
  }

  close(): void {
    this.#others.close();
    this.#dispatcher.close();
    this.#jobs.clear();
  }
}
