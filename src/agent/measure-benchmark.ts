import { PlatformError } from '../errors.js';
import type { Outcome } from '../measurement/measurement.js';
import { failureOf } from './failure.js';
import type { Measured, MeasureJob } from './measure-jobs.js';
import type { MeasureProgress } from './benchmark-agent.js';
import { type OpenBenchmark, openBenchmark, type OpenContext } from './open-benchmark.js';

/** What measuring needs of the process that it happens in. */
export interface MeasureContext extends OpenContext {
  readonly nowNs: () => bigint;
  /** Called between runs, outside of what is timed: clears away what a run left and lets pending events in. */
  readonly settle: () => Promise<void>;
  readonly peakMemoryBytes: () => number;
  /** Resolves when the report is out of the way. */
  readonly onProgress: (progress: MeasureProgress) => Promise<void>;
}

/** Fewest milliseconds between two reports while running. */
const PROGRESS_INTERVAL_MS = 200;

type Samples = Extract<Outcome, { kind: 'samples' }>;

/** A failure in the open stage is the framework's refusal, unless this project itself knows better. */
function outcomeOf(thrown: unknown, stage: 'open' | 'run'): Outcome {
  if (thrown instanceof PlatformError && thrown.code !== 'unsupported') throw thrown;
  return { kind: 'failure', ...failureOf(thrown, stage) };
}

async function takeSamples(
  benchmark: OpenBenchmark,
  { plan }: MeasureJob,
  { nowNs, settle, onProgress }: MeasureContext,
): Promise<Samples> {
  const runsTotal = plan.warmupRuns + plan.runs;
  let reportedNs = nowNs();
  const timedRun = async (runsDone: number): Promise<number> => {
    const aroundNs = nowNs();
    if (runsDone === 0 || Number(aroundNs - reportedNs) >= PROGRESS_INTERVAL_MS * 1e6) {
      reportedNs = aroundNs;
      await onProgress({ phase: 'running', runsDone, runsTotal });
    }
    await settle();
    const startNs = nowNs();
    await benchmark.execute();
    return Number(nowNs() - startNs) / 1e6;
  };

  const warmupMs: number[] = [];
  while (warmupMs.length < plan.warmupRuns) warmupMs.push(await timedRun(warmupMs.length));
  const runMs: number[] = [];
  let spentMs = 0;
  while (runMs.length < plan.runs && (runMs.length < plan.minRuns || spentMs < plan.timeBudgetMs)) {
    const durationMs = await timedRun(plan.warmupRuns + runMs.length);
    runMs.push(durationMs);
    spentMs += durationMs;
  }
  const runsDone = warmupMs.length + runMs.length;
  await onProgress({ phase: 'running', runsDone, runsTotal: runsDone });
  return { kind: 'samples', runMs, warmupMs };
}

/**
 * Measures one benchmark: fills its weights, creates one session, warms it up, runs it as often as its plan says.
 *
 * @throws PlatformError where the request itself is wrong (`usage`) or the machine is (`storage`); everything that the
 *   benchmark does wrong is an outcome
 */
export async function measureBenchmark(job: MeasureJob, context: MeasureContext): Promise<Measured> {
  const { benchmark, runOptions, plan } = job;
  const startNs = context.nowNs();
  const elapsedMs = (): number => Number(context.nowNs() - startNs) / 1e6;
  const measured = (outcome: Outcome, sessionMs: number): Measured => {
    return { outcome, sessionMs, costMs: elapsedMs(), peakMemoryBytes: context.peakMemoryBytes() };
  };

  await context.onProgress({ phase: 'preparing', runsDone: 0, runsTotal: plan.warmupRuns + plan.runs });
  let open: OpenBenchmark;
  try {
    const { memoryLimitBytes } = plan;
    open = await openBenchmark({ benchmark, runOptions, memoryLimitBytes }, context);
  } catch (error) {
    return measured(outcomeOf(error, 'open'), elapsedMs());
  }
  const sessionMs = elapsedMs();
  try {
    return measured(await takeSamples(open, job, context), sessionMs);
  } catch (error) {
    return measured(outcomeOf(error, 'run'), sessionMs);
  } finally {
    await open.close();
  }
}
