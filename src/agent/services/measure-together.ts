import {
  type BrickInContext,
  type CompositePlan,
  type PlanLimits,
  planComposites,
} from '../../composite/plan-composites.js';
import type { MeasureOptions, MeasureProgress } from '../benchmark-agent.js';
import { protocolOfComposite } from '../../composite/protocol-of-composite.js';
import type { Measured, MeasureBricksJob } from '../jobs/job.js';
import { MAX_RUNS_PER_RUN } from '../jobs/timed-runs.js';
import { buildMeasured } from '../worker/job-end.js';
import type { WorkerRunner } from '../worker/worker-runner.js';

interface MeasuredBrick {
  readonly index: number;
  readonly measured: Measured;
}

/**
 * In as few composites as contexts allow. One that fails is halved until the failing brick is alone.
 *
 * @throws PlatformError `cancelled` after the signal, `usage` where the request is wrong in itself
 */
export async function* measureTogether(
  bricks: readonly BrickInContext[],
  setup: Pick<MeasureBricksJob, 'runOptions' | 'protocol' | 'occasion' | 'limits'>,
  runner: WorkerRunner,
  cacheBytes: number,
  { signal, onProgress }: MeasureOptions,
): AsyncGenerator<MeasuredBrick> {
  const { runs, warmupRuns } = protocolOfComposite(setup.protocol);
  const { memoryLimitBytes } = setup.limits;
  const limits: PlanLimits = { memoryLimitBytes, cacheBytes, runs: MAX_RUNS_PER_RUN * runs + warmupRuns };

  async function* measureAll(indices: readonly number[]): AsyncGenerator<MeasuredBrick> {
    const chosen = indices.flatMap((index) => bricks[index] ?? []);
    for (const { bricks: positions, ...how } of planComposites(chosen, limits)) {
      yield* measureOne(
        positions.flatMap((position) => indices[position] ?? []),
        how,
      );
    }
  }

  async function* measureOne(
    indices: readonly number[],
    how: Omit<CompositePlan, 'bricks'>,
  ): AsyncGenerator<MeasuredBrick> {
    const benchmarks = indices.flatMap((index) => bricks[index]?.benchmark ?? []);
    const session = { index: indices[0] ?? 0, together: indices.length };
    const job = { kind: 'measure-bricks', bricks: benchmarks, ...how, ...setup } as const;
    const tell = (progress: MeasureProgress): void => onProgress?.({ ...progress, ...session });
    const { end } = await runner.run(job, setup.limits, { signal, onProgress: tell });
    const measured = buildMeasured(end, indices.length);
    const failed = measured.every(({ outcome }) => outcome.kind === 'failure');
    if (failed && indices.length > 1) {
      const half = Math.ceil(indices.length / 2);
      yield* measureAll(indices.slice(0, half));
      yield* measureAll(indices.slice(half));
      return;
    }
    for (const [position, one] of measured.entries()) yield { index: indices[position] ?? 0, measured: one };
  }

  yield* measureAll(bricks.map((_, index) => index));
}
