import type { Protocol } from '../../measurement/protocol.js';
import type { PreparedRun } from '../../predictor/predictor.js';
import type { MeasureProgress } from '../benchmark-agent.js';

/** Dependencies of timing on its process. */
export interface TimingContext {
  readonly nowNs: () => bigint;
  /** Called between runs, outside of the measured time: frees a run's outputs and lets pending events run. */
  readonly settle: () => Promise<void>;
  /** Resolves when the report is sent. */
  readonly onProgress: (progress: MeasureProgress) => Promise<void>;
}

/** One run of a model, timed from outside of the framework. */
export interface TimedRun {
  /** By {@link TimingContext.nowNs}. */
  readonly startNs: bigint;
  readonly durationNs: number;
}

export interface TimedRuns {
  readonly warmups: readonly TimedRun[];
  readonly runs: readonly TimedRun[];
}

type RunPlan = Pick<Protocol, 'warmupRuns' | 'runs' | 'minRuns' | 'timeBudgetMs'>;

/** Fewest milliseconds between two reports while running. */
const PROGRESS_INTERVAL_MS = 200;

export function runDurationMs({ durationNs }: TimedRun): number {
  return durationNs / 1e6;
}

/** Warms a model up and runs it as often as the plan says, each run timed on its own. */
export async function timeRuns(
  model: PreparedRun,
  plan: RunPlan,
  { nowNs, settle, onProgress }: TimingContext,
): Promise<TimedRuns> {
  const runsTotal = plan.warmupRuns + plan.runs;
  let reportedNs = nowNs();
  const timedRun = async (runsDone: number): Promise<TimedRun> => {
    const aroundNs = nowNs();
    if (runsDone === 0 || Number(aroundNs - reportedNs) >= PROGRESS_INTERVAL_MS * 1e6) {
      reportedNs = aroundNs;
      await onProgress({ phase: 'running', runsDone, runsTotal });
    }
    await settle();
    const startNs = nowNs();
    await model.execute();
    return { startNs, durationNs: Number(nowNs() - startNs) };
  };

  const warmups: TimedRun[] = [];
  while (warmups.length < plan.warmupRuns) warmups.push(await timedRun(warmups.length));
  const runs: TimedRun[] = [];
  let spentMs = 0;
  while (runs.length < plan.runs && (runs.length < plan.minRuns || spentMs < plan.timeBudgetMs)) {
    const run = await timedRun(plan.warmupRuns + runs.length);
    runs.push(run);
    spentMs += runDurationMs(run);
  }
  const runsDone = warmups.length + runs.length;
  await onProgress({ phase: 'running', runsDone, runsTotal: runsDone });
  return { warmups, runs };
}
