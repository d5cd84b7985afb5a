import { PlatformError } from '../../base/errors.js';
import type { FrameworkName } from '../../predictor/frameworks.js';
import { errorOfEnd, isFailure, type JobEnd } from './job-end.js';
import type { WorkerJob, OpenJob } from '../jobs/job.js';
import { type JobHooks, type JobLimits, WorkerProcess } from './worker-process.js';
import { type TurnOptions, Turns } from './turns.js';

/**
 * Runs one job at a time in a worker process. It replaces the process after a number of jobs, after every failure and
 * for another occasion.
 */
export class WorkerRunner {
  readonly #turns = new Turns();
  /** Every process that has not ended. */
  readonly #processes = new Set<WorkerProcess>();
  #current: WorkerProcess | undefined;
  #closed = false;

  constructor(readonly framework: FrameworkName) {}

  /** @throws PlatformError `cancelled` after the signal, `unavailable` where no process starts or too many wait */
  run(job: WorkerJob, limits: JobLimits, options: JobHooks & TurnOptions = {}): Promise<JobEnd> {
    return this.#turns.take(async () => {
      if (this.#current?.suits(job) !== true) {
        await this.#current?.kill();
        this.#current = await this.#start();
      }
      const end = await this.#current.run(job, limits, options);
      if (isFailure(end)) await this.#current.kill();
      return end;
    }, options);
  }

  /**
   * Opens a model in a process of its own. The caller ends the process; {@link close} ends it at the latest.
   *
   * @throws PlatformError as {@link run}, and where the model cannot be opened
   */
  open(job: OpenJob, limits: JobLimits, options: JobHooks & TurnOptions = {}): Promise<WorkerProcess> {
    return this.#turns.take(async () => {
      const process = await this.#start();
      try {
        const end = await process.run(job, limits, options);
        if (end.kind !== 'opened') throw errorOfEnd(end);
        return process;
      } catch (error) {
        await process.kill();
        throw error;
      }
    }, options);
  }

  /**
   * Runs a job in a process from {@link open}, when it is its turn.
   *
   * @throws PlatformError as {@link run}
   */
  runIn(
    process: WorkerProcess,
    job: WorkerJob,
    limits: JobLimits,
    options: JobHooks & TurnOptions = {},
  ): Promise<JobEnd> {
    return this.#turns.take(() => process.run(job, limits, options), options);
  }

  /** Ends every process and the jobs in them. No job can run afterwards. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#processes].map((process) => process.kill()));
  }

  async #start(): Promise<WorkerProcess> {
    const process = await WorkerProcess.start(this.framework);
    if (this.#closed) {
      await process.kill();
      throw new PlatformError('unavailable', 'the agent is shutting down');
    }
    this.#processes.add(process);
    void process.ended().then(() => this.#processes.delete(process));
    return process;
  }
}
