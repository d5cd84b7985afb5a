import { PlatformError } from '../../base/errors.js';
import type { Conditions } from '../../measurement/conditions.js';
import type { Outcome } from '../../measurement/measurement.js';
import type { SpanRecorder } from '../../tracing/span-recorder.js';
import { failureOf } from '../failure.js';
import { orOfMachine } from '../machine-failure.js';
import type { Measured, MeasureJob } from './job.js';
import { type OpenBenchmark, openBenchmark, type OpenContext } from './open-benchmark.js';
import { recordRuns } from './run-spans.js';
import { runDurationMs, type SharedRuns, timeRuns, type TimingContext } from './timed-runs.js';
import { withSharing } from './watch-conditions.js';

export interface MeasureContext extends OpenContext, TimingContext {
  readonly peakMemoryBytes: () => number;
  readonly watchConditions: () => () => Conditions | undefined;
  readonly recorder: SpanRecorder;
}

type Samples = Extract<Outcome, { kind: 'samples' }>;

/**
 * The outcome of a benchmark that failed. Errors of this project other than `unsupported` are thrown again, and a
 * failure of the machine is none of the benchmark.
 */
export function failedOutcome(error: unknown, stage: 'open' | 'run'): Outcome {
  const thrown = orOfMachine(error);
  if (thrown instanceof PlatformError && thrown.code !== 'unsupported') throw thrown;
  return { kind: 'failure', ...failureOf(thrown, stage) };
}

async function takeSamples(
  benchmark: OpenBenchmark,
  { name, protocol, runOptions: { threads } }: MeasureJob,
  context: MeasureContext,
): Promise<{ readonly samples: Samples; readonly sharing: SharedRuns }> {
  const timed = await timeRuns(benchmark, { ...protocol, threads }, context);
  recordRuns(context.recorder, timed, name === undefined ? { bricks: 1 } : {});
  const runMs = timed.runs.map(runDurationMs);
  const warmupMs = timed.warmups.map(runDurationMs);
  return { samples: { kind: 'samples', runMs, warmupMs }, sharing: timed.sharing };
}

/**
 * Measures one benchmark: fills its weights, creates one session, warms it up, and runs it as often as its protocol
 * says.
 *
 * @throws PlatformError where the request is wrong (`usage`) or the machine fails (`storage`); a failure of the
 *   benchmark is an outcome
 */
export async function measureBenchmark(job: MeasureJob, context: MeasureContext): Promise<Measured> {
  const { benchmark, runOptions, protocol, limits } = job;
  const startNs = context.nowNs();
  const conditions = context.watchConditions();
  const elapsedMs = (): number => Number(context.nowNs() - startNs) / 1e6;
  const measured = (outcome: Outcome, sessionMs: number, sharing?: SharedRuns): Measured => {
    const peakMemoryBytes = context.peakMemoryBytes();
    const found = withSharing(conditions(), sharing);
    return { outcome, sessionMs, costMs: elapsedMs(), peakMemoryBytes, conditions: found };
  };

  await context.onProgress({ phase: 'preparing', runsDone: 0, runsTotal: protocol.warmupRuns + protocol.runs });
  let open: OpenBenchmark;
  try {
    const request = { benchmark, runOptions, memoryLimitBytes: limits.memoryLimitBytes };
    const load = { level: 'APPLICATION_TRACE' } as const;
    open = await context.recorder.section('load_model', load, () => openBenchmark(request, context));
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
