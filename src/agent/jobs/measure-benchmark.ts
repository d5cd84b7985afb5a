import { PlatformError } from '../../base/errors.js';
import type { Conditions } from '../../measurement/conditions.js';
import type { Outcome } from '../../measurement/measurement.js';
import type { SpanRecorder } from '../../tracing/span-recorder.js';
import { classifyFailure } from '../failure.js';
import { orOfMachine } from '../machine-failure.js';
import { type Measured, type MeasureJob, plannedRuns } from './job.js';
import { type OpenBenchmark, openBenchmark, type OpenContext } from './open-benchmark.js';
import { recordRuns } from './run-spans.js';
import { runDurationMs, type SharedRuns, timeRuns, type TimingContext } from './timed-runs.js';
import { withSharing } from './watch-conditions.js';

export interface MeasureContext extends OpenContext, TimingContext {
  readonly peakMemoryBytes: () => number;
  readonly watchConditions: () => () => Conditions | undefined;
  readonly recorder: SpanRecorder;
}

/** The first hundreds of calls of a process take up to twice as long, until the code that makes them is compiled. */
const MIN_WARMUP_MS = 10;

type Samples = Extract<Outcome, { kind: 'samples' }>;

/** Throws errors of this project other than `unsupported` again: a machine's failure is none of the benchmark. */
export function failedOutcome(error: unknown, stage: 'open' | 'run'): Outcome {
  const thrown = orOfMachine(error);
  if (thrown instanceof PlatformError && thrown.code !== 'unsupported') throw thrown;
  return { kind: 'failure', ...classifyFailure(thrown, stage) };
}

async function takeSamples(
  benchmark: OpenBenchmark,
  { name, protocol, runOptions: { threads } }: MeasureJob,
  context: MeasureContext,
): Promise<{ readonly samples: Samples; readonly sharing: SharedRuns }> {
  // Without warm-up runs, cold runs are wanted.
  const warmupMs = protocol.warmupRuns === 0 ? 0 : MIN_WARMUP_MS;
  const timed = await timeRuns(benchmark, { ...protocol, threads, warmupMs }, context);
  recordRuns(context.recorder, timed, name === undefined ? { bricks: 1 } : {});
  const runMs = timed.runs.map(runDurationMs);
  const samples = { kind: 'samples', runMs, warmupMs: timed.warmups.map(runDurationMs) } as const;
  return { samples, sharing: timed.sharing };
}

/** A failure of the benchmark is an outcome. @throws PlatformError `usage` (the request) or `storage` (the machine) */
export async function measureBenchmark(job: MeasureJob, context: MeasureContext): Promise<Measured> {
  const { benchmark, runOptions, limits } = job;
  const startNs = context.nowNs();
  const conditions = context.watchConditions();
  const elapsedMs = (): number => Number(context.nowNs() - startNs) / 1e6;
  const measured = (outcome: Outcome, sessionMs: number, sharing?: SharedRuns): Measured => {
    const peakMemoryBytes = context.peakMemoryBytes();
    const found = withSharing(conditions(), sharing);
    return { outcome, sessionMs, costMs: elapsedMs(), peakMemoryBytes, conditions: found };
  };

  await context.onProgress({ phase: 'preparing', runsDone: 0, runsTotal: plannedRuns(job) });
  let open: OpenBenchmark;
  try {
    const request = { benchmark, runOptions, memoryLimitBytes: limits.memoryLimitBytes };
    open = await context.recorder.section('load_model', {}, () => openBenchmark(request, context));
  } catch (error) {
    return measured(failedOutcome(error, 'open'), elapsedMs());
  }
  const sessionMs = elapsedMs();
  try {
    const { samples, sharing } = await takeSamples(open, job, context);
    return measured(samples, sessionMs, sharing);
  } catch (error) {
    return measured(failedOutcome(error, 'run'), sessionMs);
  } finally {
    await open.close();
  }
}
