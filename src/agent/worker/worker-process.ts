import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { messageOf, PlatformError } from '../../base/errors.js';
import { makeFolder, OWNER_ONLY } from '../../base/make-folder.js';
import type { Limits } from '../../measurement/protocol.js';
import { type FrameworkName, FRAMEWORKS } from '../../predictor/frameworks.js';
import { activeTracing } from '../../tracing/tracing.js';
import type { MeasureProgress } from '../benchmark-agent.js';
import { cancellationOf, throwIfCancelled } from '../../base/cancellation.js';
import { briefly, classifyDeath } from '../failure.js';
import { countMemoryKills, freeBytes } from '../memory-there.js';
import { fullDisk, machineFailure, memoryTaken } from '../machine-failure.js';
import { type JobEnd, ranOutOfMemory } from './job-end.js';
import {
  type Assignment,
  type ServedAnswer,
  type ServingMessage,
  type WorkerJob,
  LIFELINE_FILE_DESCRIPTOR,
  occasionOf,
  type WorkerMessage,
  threadsOf,
} from '../jobs/job.js';
import { removeTemporaryFolders, temporaryFolderPath } from '../jobs/temporary-folder.js';
import { enforceLimits } from './enforce-limits.js';

/** Loading Node and the runtime takes a quarter of a second, and much longer on a machine that swaps. */
const START_LIMIT_MS = 60_000;

/** Most attempts to start a process that is killed while it starts. */
const MAX_STARTS = 3;

const LAST_WORDS_LENGTH = 4096;

/** A process is replaced after this many jobs, or once it keeps this much more memory after a job: sessions leak. */
const MAX_JOBS = 64;
const MAX_KEPT_BYTES = 256 * 2 ** 20;

/** Thresholds at which glibc settles (mallopt(3)): without them, one run in twenty took 1 ms longer for fresh pages. */
const SETTLED_ALLOCATOR = { MALLOC_MMAP_THRESHOLD_: `${32 * 2 ** 20}`, MALLOC_TRIM_THRESHOLD_: `${64 * 2 ** 20}` };

export interface RunningRuntime {
  readonly framework: FrameworkName;
  readonly packageFolder?: string | undefined;
}

export interface FastestProbe {
  ns?: number | undefined;
}

export interface JobHooks {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: MeasureProgress) => void) | undefined;
  /** Called once a job that serves is ready. */
  readonly onServing?: ((send: (message: ServingMessage) => void) => void) | undefined;
  readonly onAnswers?: ((answers: readonly ServedAnswer[]) => void) | undefined;
}

interface ReportHooks extends JobHooks {
  readonly onBegun: () => void;
}

type ResultReport = Extract<WorkerMessage, { kind: 'result' }>;

interface NotStarted {
  /** Whether something else killed the process, such as the kernel when memory runs out. */
  readonly wasKilled: boolean;
  readonly problem: string;
}

interface Exit {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly full: string | undefined;
}

/** The agent's side of worker.ts. It runs one job at a time; its death is a way for a job to end, never an error. */
export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #exit: Promise<Exit>;
  #lastWords = '';
  #jobs = 0;
  #startBytes = 0;
  #keptBytes = 0;
  #alive = true;
  readonly #keepsThreads: boolean;
  #threads: number | undefined;
  #occasion: number | undefined;
  readonly #memoryKills = countMemoryKills();

  private constructor(
    { framework, packageFolder }: RunningRuntime,
    folder: string,
    workingFolder: string,
    private readonly fastestProbe: FastestProbe,
  ) {
    const { nodeFlags, keepsThreads, packageVariable } = FRAMEWORKS[framework];
    this.#keepsThreads = keepsThreads;
    this.#child = fork(fileURLToPath(new URL('./worker.js', import.meta.url)), [folder, framework], {
      // The working folder is empty, so that a model cannot make the runtime open a file in it.
      cwd: workingFolder,
      serialization: 'advanced',
      // The last one is the lifeline, see lifeline.ts.
      stdio: ['ignore', 'ignore', 'pipe', 'ipc', 'pipe'],
      execArgv: ['--expose-gc', ...nodeFlags],
      env: {
        ...SETTLED_ALLOCATOR,
        ...process.env,
        TMPDIR: folder,
        ...(packageVariable !== undefined && { [packageVariable]: packageFolder }),
      },
    });
    (this.#child.stderr as Readable).setEncoding('utf8').on('data', (text: string) => {
      this.#lastWords = (this.#lastWords + text).slice(-LAST_WORDS_LENGTH);
    });
    // Errors of this stream are ignored: the exit of the process reports them.
    this.#child.stdio[LIFELINE_FILE_DESCRIPTOR]?.on('error', () => {});
    this.#child.once('exit', () => {
      this.#alive = false;
    });
    this.#exit = new Promise<Exit>((resolve) => {
      const ended = (exitCode: number | null, signal: NodeJS.Signals | null): void => {
        // Its files are still there.
        resolve({ exitCode, signal, full: fullDisk(folder) });
      };
      this.#child.once('close', ended);
      this.#child.on('error', (error) => {
        this.#alive = false;
        this.#lastWords += error.message;
        ended(null, null);
      });
    }).then((exit) => {
      removeTemporaryFolders(folder);
      return exit;
    });
  }

  /** Starts again where it is killed meanwhile. @throws PlatformError `unavailable`, or `storage` without room */
  static async start(runtime: RunningRuntime, fastestProbe: FastestProbe): Promise<WorkerProcess> {
    for (let starts = 1; ; starts++) {
      const started = await WorkerProcess.#startOnce(runtime, fastestProbe);
      if (started instanceof WorkerProcess) return started;
      if (!started.wasKilled || starts === MAX_STARTS) throw new PlatformError('unavailable', started.problem);
    }
  }

  /** @throws PlatformError `storage` where it can get no folder */
  static async #startOnce(runtime: RunningRuntime, fastestProbe: FastestProbe): Promise<WorkerProcess | NotStarted> {
    const folder = temporaryFolderPath();
    const workingFolder = join(folder, 'working');
    try {
      makeFolder(workingFolder, OWNER_ONLY);
    } catch (cause) {
      const problem = `no folder can be made for the worker process: ${messageOf(cause)}`;
      throw new PlatformError('storage', `${problem}; make room there or set TMPDIR to another folder`, { cause });
    }
    const measuring = new WorkerProcess(runtime, folder, workingFolder, fastestProbe);
    let isLate = false;
    const tooLate = setTimeout(() => {
      isLate = true;
      measuring.#end();
    }, START_LIMIT_MS);
    const report = await Promise.race([measuring.#nextReport(), measuring.#exit]);
    clearTimeout(tooLate);
    if ('kind' in report && report.kind === 'ready') {
      measuring.#startBytes = report.residentBytes;
      return measuring;
    }
    await measuring.kill();
    if (isLate) {
      const problem = `the worker process does not start within ${START_LIMIT_MS / 1000} s`;
      return { wasKilled: false, problem: `${problem}; the machine may be out of memory or very busy` };
    }
    const { exitCode, signal, full } = await measuring.#exit;
    const ofMachine = machineFailure(measuring.#lastWords, full);
    if (ofMachine !== undefined) throw ofMachine;
    const { message } = classifyDeath(exitCode, signal, measuring.#lastWords, measuring.#hasKilledForMemory());
    return { wasKilled: signal === 'SIGKILL', problem: `the worker process does not start: ${message}` };
  }

  #hasKilledForMemory(): boolean | undefined {
    return this.#memoryKills === undefined ? undefined : countMemoryKills() !== this.#memoryKills;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** False as soon as it has ended or is being ended. */
  get isAlive(): boolean {
    return this.#alive;
  }

  suits(job: WorkerJob): boolean {
    const occasion = occasionOf(job);
    if (occasion !== undefined && (this.#occasion ?? occasion) !== occasion) return false;
    const isFresh = this.#alive && this.#jobs < MAX_JOBS && this.#keptBytes - this.#startBytes < MAX_KEPT_BYTES;
    return isFresh && (!this.#keepsThreads || this.#threads === undefined || this.#threads === threadsOf(job));
  }

  async ended(): Promise<void> {
    await this.#exit;
  }

  async kill(): Promise<void> {
    this.#end();
    await this.#exit;
  }

  #end(): void {
    this.#alive = false;
    this.#child.kill('SIGKILL');
  }

  #nextReport(): Promise<WorkerMessage> {
    return new Promise((resolve) => this.#child.once('message', (report) => resolve(report as WorkerMessage)));
  }

  /**
   * A timed job first waits until no other process measures here; the time limit does not include this wait.
   *
   * @throws PlatformError `cancelled` after the signal, `storage` where the machine failed; the process is gone then
   */
  async run(job: WorkerJob, limits: Limits, hooks: JobHooks = {}): Promise<JobEnd> {
    const { signal, onProgress } = hooks;
    throwIfCancelled(signal);
    this.#jobs++;
    this.#threads ??= threadsOf(job);
    this.#occasion ??= occasionOf(job);
    let startMs = performance.now();
    let preparingMs: number | undefined;
    const limit = enforceLimits(this.pid, limits, () => this.#end());
    const result = this.#awaitResult(job, {
      ...hooks,
      onBegun: () => {
        limit.begin();
        startMs = performance.now();
      },
      onProgress: (progress) => {
        if (progress.phase === 'waiting') limit.pause();
        if (progress.phase === 'running') preparingMs ??= performance.now() - startMs;
        onProgress?.(progress);
      },
    });
    const cancel = (): void => this.#end();
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      const ended = await Promise.race([result, this.#exit]);
      if (signal?.aborted === true) {
        await this.#exit;
        throw cancellationOf(signal);
      }
      if ('result' in ended) {
        await activeTracing()?.record(ended.spans);
        const taken = ranOutOfMemory(ended.result)
          ? memoryTaken((freeBytes() ?? Infinity) + ended.residentBytes)
          : undefined;
        if (taken !== undefined) throw taken;
        return ended.result;
      }
      const elapsedMs = performance.now() - startMs;
      const broken = limit.broken();
      const ofMachine = machineFailure(`${ended.signal ?? ''} ${briefly(this.#lastWords)}`.trim(), ended.full);
      if (broken === undefined && ofMachine !== undefined) throw ofMachine;
      const failure =
        broken ?? classifyDeath(ended.exitCode, ended.signal, this.#lastWords, this.#hasKilledForMemory());
      // The operating system kills a process that takes the last memory.
      const mayLackMemory = failure.reason === 'out_of_memory' || ended.signal === 'SIGKILL';
      const taken = broken === undefined && mayLackMemory ? memoryTaken(freeBytes()) : undefined;
      if (taken !== undefined) throw taken;
      return {
        kind: 'died',
        failure,
        elapsedMs,
        preparingMs: preparingMs ?? elapsedMs,
        peakMemoryBytes: limit.peakBytes(),
      };
    } finally {
      signal?.removeEventListener('abort', cancel);
      limit.stop();
      this.#child.removeAllListeners('message');
    }
  }

  #awaitResult(job: WorkerJob, { onBegun, onProgress, onServing, onAnswers }: ReportHooks): Promise<ResultReport> {
    return new Promise((resolve) => {
      this.#child.on('message', (message) => {
        const report = message as WorkerMessage;
        if (report.kind === 'begun') onBegun();
        if (report.kind === 'progress') onProgress?.(report.progress);
        if (report.kind === 'serving') onServing?.((sent) => this.#child.send(sent, () => {}));
        if (report.kind === 'answers') onAnswers?.(report.answers);
        if (report.kind === 'result') {
          this.#keptBytes = report.residentBytes;
          this.fastestProbe.ns = report.fastestProbeNs ?? this.fastestProbe.ns;
          resolve(report);
        }
      });
      // A failure to send is ignored: the exit of the process reports it.
      const traceLevel = activeTracing()?.level() ?? 'NO_TRACE';
      const assignment: Assignment = { job, traceLevel, fastestProbeNs: this.fastestProbe.ns };
      this.#child.send(assignment, () => {});
    });
  }
}
