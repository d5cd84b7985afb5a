// The worker process decides nothing: the agent enforces limits, cancels jobs and replaces it, by killing it.
import { readFileSync, writeFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { messageOf, PlatformError } from '../../base/errors.js';
import { type FrameworkName, FRAMEWORKS } from '../../predictor/frameworks.js';
import { SpanRecorder } from '../../tracing/span-recorder.js';
import { inferTypes } from '../jobs/infer-types.js';
import type { LifelineData } from './lifeline.js';
import { type MachineLock, takeMachineLock, lockGroup } from './machine-lock.js';
import { measureBenchmark, type MeasureContext } from '../jobs/measure-benchmark.js';
import { measureBricks } from '../jobs/measure-bricks.js';
import { type Inbox, serveQueries } from '../jobs/serve-queries.js';
import { optimizeGraph } from '../jobs/optimize-graph.js';
import { runOnce } from '../jobs/run-once.js';
import { traceBenchmark } from '../jobs/trace-benchmark.js';
import {
  type Assignment,
  isTimed,
  type WorkerJob,
  type JobResult,
  type OpenJob,
  type ServedAnswer,
  type ServingMessage,
  waitingProgress,
  type WorkerMessage,
} from '../jobs/job.js';
import type { PredictSession } from '../jobs/predict-session.js';
import { NO_PROBE, WorkProbe } from '../jobs/core-probe.js';
import { jobAttributes } from '../jobs/job-attributes.js';
import { watchConditions } from '../jobs/watch-conditions.js';

/** This process's own folder. It holds the working directory and, beside it, the files of the jobs. */
const [folder = '', framework] = process.argv.slice(2);

// A terminal's Ctrl-C and Ctrl-Z reach the whole group. A suspended worker would block all measurements of the machine.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGTSTP'] as const) process.on(signal, () => {});
const lifelineData: LifelineData = { temporaryFolder: folder };
new Worker(new URL('./lifeline.js', import.meta.url), { workerData: lifelineData }).unref();

/** Writes to a file of Linux's /proc/self; elsewhere, and where it is not allowed, nothing happens. */
function writeProcessFile(name: string, value: string): void {
  if (process.platform !== 'linux') return;
  try {
    writeFileSync(`/proc/self/${name}`, value);
  } catch {
    // A container may forbid it. Then the kernel may end another process first, or a peak is that of an earlier job.
  }
}

// When memory runs out, the kernel ends this process first.
writeProcessFile('oom_score_adj', '1000');

function peakMemoryBytes(): number {
  if (process.platform === 'linux') {
    const peakKiB = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1];
    if (peakKiB !== undefined) return Number(peakKiB) * 1024;
  }
  return process.resourceUsage().maxRSS * 1024;
}

function send(report: WorkerMessage): Promise<void> {
  return new Promise((resolve) => {
    // A failure to send means that the agent has ended, which ends this process.
    process.send?.(report, undefined, {}, () => resolve());
  });
}

/** Frees a run's outputs. Else they accumulate and runs take longer for fresh pages: 0.2 and 1.1 ms for 3 MB. */
async function settle(): Promise<void> {
  globalThis.gc?.({ type: 'minor' });
  await setImmediate();
}

function nowNs(): bigint {
  return process.hrtime.bigint();
}

/** undefined for a process that measures beside others on purpose. */
const coreProbe = lockGroup() === undefined ? new WorkProbe(nowNs) : undefined;

const context: Omit<MeasureContext, 'recorder'> = {
  predictor: await FRAMEWORKS[framework as FrameworkName].load(),
  temporaryFolder: folder,
  nowNs,
  settle,
  peakMemoryBytes,
  watchConditions: () => (coreProbe === undefined ? () => undefined : watchConditions(nowNs)),
  coreProbe: coreProbe ?? NO_PROBE,
  onProgress: (progress) => send({ kind: 'progress', progress }),
};

let session: PredictSession | undefined;

/** Processes that only measure do not load the image library. */
async function openSession({ model, runOptions }: OpenJob): Promise<PredictSession> {
  const { PredictSession } = await import('../jobs/predict-session.js');
  return PredictSession.open(model, runOptions, context.predictor);
}

let inbox: Inbox = () => undefined;

async function runJob(job: WorkerJob, recorder: SpanRecorder): Promise<JobResult> {
  switch (job.kind) {
    case 'measure':
      return { kind: 'measured', measured: [await measureBenchmark(job, { ...context, recorder })] };
    case 'measure-bricks':
      return { kind: 'measured', measured: await measureBricks(job, { ...context, recorder }) };
    case 'trace':
      return { kind: 'traced', trace: await traceBenchmark(job, { ...context, recorder }) };
    case 'serve': {
      const port = {
        open: (receive: Inbox) => (inbox = receive),
        serving: () => void send({ kind: 'serving' }),
        answer: (answers: readonly ServedAnswer[]) => void send({ kind: 'answers', answers }),
      };
      return { kind: 'served', served: await serveQueries(job, port, { ...context, recorder }) };
    }
    case 'infer-types':
      return { kind: 'inferred', values: await inferTypes(job, context) };
    case 'optimize': {
      const before = process.cpuUsage();
      const optimized = await optimizeGraph(job, context);
      const { user, system } = process.cpuUsage(before);
      return { kind: 'optimized', optimized, processorMs: (user + system) / 1000 };
    }
    case 'run-once':
      return { kind: 'ran-once', values: await runOnce(job, context) };
    case 'open':
      session = await openSession(job);
      return { kind: 'opened' };
    case 'predict':
      if (session === undefined) throw new PlatformError('internal', 'no model is open in this process');
      return { kind: 'predicted', predicted: await session.predict(job.batch, recorder) };
  }
}

/** Others see the agent as the holder, because users know the agent's process. */
async function lockFor(job: WorkerJob): Promise<MachineLock | undefined> {
  if (!isTimed(job)) return undefined;
  return takeMachineLock(
    process.ppid,
    (holder) => void send({ kind: 'progress', progress: waitingProgress(job, holder) }),
  );
}

/** Whether no garbage of an earlier job is left, which a timed job would collect in its own time. */
let isCollected = true;

async function perform({ job, traceLevel, fastestProbeNs }: Assignment): Promise<void> {
  const lock = await lockFor(job);
  if (isTimed(job) && !isCollected) globalThis.gc?.();
  await send({ kind: 'begun' });
  coreProbe?.learn(fastestProbeNs);
  // A new peak of resident memory. Source: "clear_refs" in the kernel's filesystems/proc.rst.
  writeProcessFile('clear_refs', '5');
  const recorder = new SpanRecorder(traceLevel);
  let result: JobResult;
  try {
    const attributes = { 'process.pid': process.pid, ...jobAttributes(job) };
    const span = { level: 'APPLICATION_TRACE', attributes } as const;
    result = await recorder.section(job.kind.replaceAll('-', '_'), span, () => runJob(job, recorder));
  } catch (error) {
    const code = error instanceof PlatformError ? error.code : 'internal';
    result = { kind: 'rejected', code, message: messageOf(error) };
  }
  // Collecting everything takes as long as optimizing a small graph.
  isCollected = isTimed(job);
  if (isCollected) globalThis.gc?.();
  else globalThis.gc?.({ type: 'minor' });
  const spans = recorder.take();
  const residentBytes = process.memoryUsage.rss();
  lock?.release();
  await send({ kind: 'result', result, spans, residentBytes, fastestProbeNs: coreProbe?.fastestNs });
}

process.on('message', (message: Assignment | ServingMessage) => {
  if ('job' in message) void perform(message);
  else inbox(message);
});
await send({ kind: 'ready', residentBytes: process.memoryUsage.rss() });
