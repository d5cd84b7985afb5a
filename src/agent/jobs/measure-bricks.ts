import { sumOf } from '../../base/sum-of.js';
import { type Composite, buildComposite } from '../../composite/composite.js';
import { protocolOfComposite } from '../../composite/protocol-of-composite.js';
import type { Outcome } from '../../measurement/measurement.js';
import { factorOfSums, trimmedMean } from '../../measurement/trimmed-mean.js';
import { inputBytes } from '../../measurement/benchmark.js';
import type { ProfiledRun } from '../../predictor/profile.js';
import { unwatchedTimes } from './idle-node.js';
import { type Measured, type MeasureBricksJob, plannedRuns } from './job.js';
import { failedOutcome, type MeasureContext } from './measure-benchmark.js';
import {
  correctedCost,
  costByIdleNodes,
  durationOf,
  durationsIn,
  computeKernelCost,
  type ProfileCost,
  computeCostShare,
} from './profile-cost.js';
import { type OpenProfiled, openProfiled } from './profiled-runs.js';
import { recordRuns } from './run-spans.js';
import { runDurationMs } from './timed-runs.js';
import { withSharing } from './watch-conditions.js';

const NS_PER_MS = 1e6;

/** @param cost what the profile adds to the time of a node, by its inputs */
export function collectOutcomes(
  { nodesOf, times }: Composite,
  profile: readonly ProfiledRun[],
  cost: ProfileCost,
): readonly (Outcome & { kind: 'samples' })[] {
  const runs = profile.map(durationsIn);
  const costs = costsByNode(profile, cost);
  const perBrick = nodesOf.map((nodes) =>
    runs.map((durations) => sumOf(nodes.map((node) => durationOf(durations, node))) / times),
  );
  const factor = factorOfSums(perBrick);
  return nodesOf.map((nodes, brick) => ({
    kind: 'samples',
    runMs: (perBrick[brick] ?? []).map((ms) => factor * ms),
    warmupMs: [],
    overheadMs: sumOf(nodes.map((node) => costs.get(node) ?? 0)) / times,
  }));
}

function costsByNode(profile: readonly ProfiledRun[], cost: ProfileCost): ReadonlyMap<string, number> {
  const costs = new Map<string, number>();
  for (const kernel of profile.flatMap(({ kernels }) => kernels)) {
    costs.set(kernel.name, (costs.get(kernel.name) ?? 0) + computeKernelCost(kernel, cost) / profile.length);
  }
  return costs;
}

/** From this share of the profile's cost on, runs without the profile are worth their time. */
const NOTEWORTHY_SHARE = 0.01;

interface Cost {
  readonly sessionMs: number;
  readonly costMs: number;
}

/** Divides a composite's cost among its bricks: of the session by bytes of weights, the rest by time of runs. */
function shares(job: MeasureBricksJob, outcomes: readonly Outcome[], { sessionMs, costMs }: Cost): readonly Cost[] {
  // MIN_SHARE_BYTES gives bricks without weights a part of the session's cost.
  const bytes = job.bricks.map(({ inputs }) => inputBytes(inputs, 'weight') + MIN_SHARE_BYTES);
  const times = outcomes.map((outcome) => (outcome.kind === 'samples' ? trimmedMean(outcome.runMs) : 0));
  const allBytes = sumOf(bytes);
  const allTime = sumOf(times);
  return bytes.map((own, index) => {
    const session = (sessionMs * own) / allBytes;
    const runs =
      allTime === 0 ? (costMs - sessionMs) / bytes.length : ((costMs - sessionMs) * (times[index] ?? 0)) / allTime;
    return { sessionMs: session, costMs: session + runs };
  });
}

const MIN_SHARE_BYTES = 2 ** 16;

/**
 * Measures bricks in one session of a graph that has each brick once. Either all have samples, or all fail for the same
 * reason; the agent then halves them. @throws PlatformError `usage` (the request) or `storage` (the machine)
 */
export async function measureBricks(job: MeasureBricksJob, context: MeasureContext): Promise<readonly Measured[]> {
  const { bricks, paddingBytes, repetition, runOptions, limits } = job;
  const protocol = protocolOfComposite(job.protocol);
  const startNs = context.nowNs();
  const elapsedMs = (): number => Number(context.nowNs() - startNs) / NS_PER_MS;
  const failed = (error: unknown, stage: 'open' | 'run', sessionMs = elapsedMs()): readonly Measured[] => {
    const outcome = failedOutcome(error, stage);
    const cost = { sessionMs: sessionMs / bricks.length, costMs: elapsedMs() / bricks.length };
    return bricks.map(() => ({ outcome, ...cost, peakMemoryBytes: context.peakMemoryBytes() }));
  };

  await context.onProgress({ phase: 'preparing', runsDone: 0, runsTotal: plannedRuns(job) });
  let composite: Composite;
  let open: OpenProfiled;
  try {
    const unwatched = await unwatchedTimes(runOptions, context);
    composite = buildComposite(bricks, paddingBytes, repetition);
    const request = { benchmark: composite.benchmark, runOptions, memoryLimitBytes: limits.memoryLimitBytes };
    open = await context.recorder.section('load_model', {}, () => openProfiled(request, context));
    const sessionMs = elapsedMs();
    try {
      const conditions = context.watchConditions();
      const { profile, ...timed } = await open.run(protocol);
      recordRuns(context.recorder, timed, { profile, bricks: bricks.length });
      const byIdleNodes = costByIdleNodes(composite, profile, unwatched);
      const matters = computeCostShare(profile, byIdleNodes) > NOTEWORTHY_SHARE;
      // The session is warm, and one sum over all kernels needs fewer runs than each of them.
      const fewer = { ...protocol, warmupRuns: 0, timeBudgetMs: protocol.timeBudgetMs / 2 };
      const without = matters ? (await open.runWithout(fewer)).runs.map(runDurationMs) : [];
      const corrected = correctedCost(composite, byIdleNodes, profile, without, unwatched);
      const outcomes = collectOutcomes(composite, profile, corrected);
      const common = {
        peakMemoryBytes: context.peakMemoryBytes(),
        conditions: withSharing(conditions(), timed.sharing),
      };
      const costs = shares(job, outcomes, { sessionMs, costMs: elapsedMs() });
      return outcomes.map((outcome, index) => ({
        outcome,
        ...common,
        ...(costs[index] ?? { sessionMs: 0, costMs: 0 }),
      }));
    } catch (error) {
      return failed(error, 'run', sessionMs);
    } finally {
      await open.close();
    }
  } catch (error) {
    return failed(error, 'open');
  }
}
