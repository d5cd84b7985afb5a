import { PlatformError } from '../base/errors.js';
import type { AgentDirectory } from '../directory/agent-directory.js';
import { type EvaluationCollections, type EvaluationRecord, evaluationHasEnded } from '../evaluation/records.js';
import { unmetRequirements } from '../manifest/requirements.js';
import type { Dispatcher } from './dispatcher.js';
import { checkId } from './known-evaluations.js';
import type { Described, Wanted } from './loading/messages.js';
import type { SubmissionLoader } from './loading/submission-loader.js';
import type { TakeOptions } from '../base/fair-semaphore.js';
import type { EvaluationLeases, Jobs } from './jobs.js';
import { putSubmission } from './submission-store.js';

const MAX_JOBS = 1000;

export interface SubmitOptions extends TakeOptions {
  readonly traceContext?: Readonly<Record<string, string>> | undefined;
}

export interface AcceptanceOptions {
  readonly collections: EvaluationCollections;
  readonly leases: EvaluationLeases;
  readonly agents: AgentDirectory;
  readonly dispatcher: Pick<Dispatcher, 'requirePlugin'>;
  readonly loader: SubmissionLoader;
  readonly jobs: Jobs;
}

export class Acceptance {
  constructor(private readonly options: AcceptanceOptions) {}

  submit(id: string, submission: Uint8Array, options: SubmitOptions): Promise<EvaluationRecord> {
    return this.options.jobs.runAlone(id, () => this.#submit(id, submission, options), options.signal);
  }

  async #submit(
    id: string,
    received: Uint8Array,
    { traceContext = {}, ...waiting }: SubmitOptions,
  ): Promise<EvaluationRecord> {
    checkId(id);
    const { collections, leases, loader, jobs } = this.options;
    const known = await collections.records.get({ id });
    const decide = (it: Described): Wanted => known === undefined && this.#requireRunnable(it);
    const { described, submission } = await loader.load(received, decide, waiting);
    const isOwn = known === undefined && !(await leases.take([id])).has(id);
    // Another server may have accepted the evaluation meanwhile.
    const there = known ?? (await collections.records.get({ id }));
    if (there !== undefined) return await this.#sameAgain(there, described);
    if (!isOwn) {
      throw new PlatformError('unavailable', `another server is accepting the evaluation ${id} now; submit it again`);
    }
    if (submission === undefined) throw new PlatformError('internal', 'the submission has no models');
    const { name, plugin, digest, requirements } = described;
    const now = new Date().toISOString();
    const times = { submittedAt: now, changedAt: now };
    const fresh = { state: 'queued', attempts: 0, ...times, traceContext: { ...traceContext } } as const;
    const record: EvaluationRecord = { id, name, plugin, digest, ...fresh };
    try {
      await putSubmission(record, submission, collections);
    } catch (error) {
      // Then another server can accept the evaluation.
      await leases.release(id).catch(() => undefined);
      throw error;
    }
    await jobs.begin(record, requirements);
    return record;
  }

  /** If the store failed right after it stored the record, the evaluation does not run yet, and begins now. */
  async #sameAgain(known: EvaluationRecord, { digest }: Described): Promise<EvaluationRecord> {
    const { id } = known;
    if (known.digest !== digest) {
      const problem = `evaluation_id: ${id} is the id of another evaluation already`;
      throw new PlatformError('usage', `${problem}; make a new id for this one`);
    }
    const { collections, leases, jobs } = this.options;
    // A job exists until the store has its final state.
    if (jobs.has(id)) return known;
    const record = (await collections.records.get({ id })) ?? known;
    if (!evaluationHasEnded(record) && !(await leases.take([id])).has(id)) await jobs.begin(record);
    return record;
  }

  /** Checks before any graph is read. @throws PlatformError as {@link Platform.submit} */
  #requireRunnable({ plugin, requirements }: Described): Wanted {
    const { jobs, dispatcher, agents } = this.options;
    if (jobs.size >= MAX_JOBS) {
      throw new PlatformError('exhausted', `${jobs.size} evaluations wait or run already; try again later`);
    }
    const manifestSchemaJson = dispatcher.requirePlugin(plugin);
    agents.choose((system) => unmetRequirements(requirements, system));
    return manifestSchemaJson === undefined || { manifestSchemaJson };
  }
}
