import { PlatformError } from '../../base/errors.js';
import { assertEnoughCores } from '../../measurement/enough-cores.js';
import type { Limits } from '../../measurement/protocol.js';
import type { FrameworkName } from '../../predictor/frameworks.js';
import { errorOfEnd, isFailure, type JobEnd } from './job-end.js';
import { type WorkerJob, type OpenJob, waitingProgress } from '../jobs/job.js';
import { type FastestProbe, type JobHooks, WorkerProcess } from './worker-process.js';
import { type TaskOptions, TaskLimiter } from './task-limiter.js';

/** Most jobs beside each other. More processes would save little time for the memory that they need. */
const MAX_CONCURRENT_JOBS = 8;

/** A job that measures runs alone. A process is replaced after some jobs, any failure, and for another occasion. */
export class WorkerRunner {
  readonly #limiter: TaskLimiter;
  readonly #processes = new Set<WorkerProcess>();
  #idle: readonly WorkerProcess[] = [];
  readonly #fastestProbe: FastestProbe = {};
  #closed = false;

  constructor(
    readonly framework: FrameworkName,
    readonly cores: number,
    readonly packageFolder?: string,
  ) {
    this.#limiter = new TaskLimiter(Math.min(cores, MAX_CONCURRENT_JOBS));
  }

  /**
   * @throws PlatformError `usage` for more threads than cores, `cancelled` after the signal, `unavailable` where no
   *   process starts or too many wait
   */
  async run(job: WorkerJob, limits: Limits, options: JobHooks & Pick<TaskOptions, 'untimed'> = {}) {
    this.#check(job);
    const { signal, untimed } = options;
    const onWaiting = (): void => options.onProgress?.(waitingProgress(job));
    const perform = async () => {
      const startMs = this.#limiter.sharedMs;
      const process = this.#takeIdle(job);
      // A process without a job may still free memory of its last one.
      if (untimed !== true || process === undefined) await this.#killIdle();
      const end = await this.#perform(job, limits, options, process);
      return { end, shareMs: this.#limiter.sharedMs - startMs };
    };
    return this.#limiter.run(perform, { signal, onWaiting, untimed });
  }

  /** In a process of its own, which the caller ends. @throws PlatformError as {@link run}, and where opening fails */
  async open(job: OpenJob, limits: Limits, options: JobHooks = {}): Promise<WorkerProcess> {
    this.#check(job);
    return this.#limiter.run(async () => {
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

  runIn(process: WorkerProcess, job: WorkerJob, limits: Limits, options: JobHooks = {}): Promise<JobEnd> {
    return this.#limiter.run(() => process.run(job, limits, options), options);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#processes].map((process) => process.kill()));
  }

  #check(job: WorkerJob): void {
    if ('runOptions' in job) assertEnoughCores(job.runOptions, this);
  }

  #takeIdle(job: WorkerJob): WorkerProcess | undefined {
    const suited = this.#idle.find((process) => process.suits(job));
    this.#idle = this.#idle.filter((process) => process !== suited);
    return suited;
  }

  async #killIdle(): Promise<void> {
    const idle = this.#idle;
    this.#idle = [];
    await Promise.all(idle.map((process) => process.kill()));
  }

  async #perform(job: WorkerJob, limits: Limits, hooks: JobHooks, process: WorkerProcess | undefined): Promise<JobEnd> {
    const performing = process ?? (await this.#start());
    const end = await performing.run(job, limits, hooks);
    if (isFailure(end)) await performing.kill();
    else this.#idle = [...this.#idle, performing];
    return end;
  }

  async #start(): Promise<WorkerProcess> {
    const process = await WorkerProcess.start(this, this.#fastestProbe);
    if (this.#closed) {
      await process.kill();
      throw new PlatformError('unavailable', 'the agent is shutting down');
    }
    this.#processes.add(process);
    void process.ended().then(() => this.#processes.delete(process));
    return process;
  }
}
