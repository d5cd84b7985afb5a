import { PlatformError } from '../../base/errors.js';
import { sumOf } from '../../base/sum-of.js';
import { type Composite, compositeOf, IDLE_INPUTS } from '../../composite/composite.js';
import { protocolOfComposite } from '../../composite/protocol-of-composite.js';
import type { Outcome } from '../../measurement/measurement.js';
import { trimmedMean } from '../../measurement/trimmed-mean.js';
import { inputBytes } from '../../measurement/benchmark.js';
import type { ProfiledKernel, ProfiledRun } from '../../predictor/profile.js';
import { unwatchedNodeMs } from './idle-node.js';
import type { Measured, MeasureBricksJob } from './job.js';
import { failedOutcome, type MeasureContext } from './measure-benchmark.js';
import { type OpenProfiled, openProfiled } from './profiled-runs.js';
import { recordRuns } from './run-spans.js';
import { withSharing } from './watch-conditions.js';

const NS_PER_MS = 1e6;

function durationsIn(run: ProfiledRun): ReadonlyMap<string, number> {
  return new Map(run.kernels.map(({ name, durationNs }) => [name, durationNs / NS_PER_MS]));
}

/** @throws PlatformError `unsupported` where the node is missing in the profile */
function durationOf(durations: ReadonlyMap<string, number>, node: string): number {
  const ms = durations.get(node);
  if (ms !== undefined) return ms;
  throw new PlatformError('unsupported', `the runtime's profile has no event of node ${node}`);
}

/** Time that the profile adds to a node with this number of inputs; ms. */
type ProfileCost = (inputs: number) => number;

/**
 * The cost of the profile for one node: the time of an idle node in the profile, minus its time without a profile. The
 * cost is linear in the number of inputs, because the profile describes each input.
 */
function profileCost(
  { idleNodes }: Composite,
  runs: readonly ReadonlyMap<string, number>[],
  unwatchedMs: UnwatchedMs,
): ProfileCost {
  const [few, many] = IDLE_INPUTS;
  const costOf = (inputs: number): number => {
    const watched = runs.flatMap((run) => (idleNodes.get(inputs) ?? []).map((node) => durationOf(run, node)));
    return Math.max(0, trimmedMean(watched) - (unwatchedMs.get(inputs) ?? 0));
  };
  const ofFew = costOf(few);
  const perInput = Math.max(0, costOf(many) - ofFew) / (many - few);
  return (inputs) => ofFew + perInput * Math.max(0, inputs - few);
}

function costOf({ inputDims, inner }: ProfiledKernel, cost: ProfileCost): number {
  return inner.reduce((sum, kernel) => sum + costOf(kernel, cost), cost(inputDims.length));
}

function costsByNode(profile: readonly ProfiledRun[], cost: ProfileCost): ReadonlyMap<string, number> {
  const costs = new Map<string, number>();
  for (const kernel of profile.flatMap(({ kernels }) => kernels)) {
    costs.set(kernel.name, (costs.get(kernel.name) ?? 0) + costOf(kernel, cost) / profile.length);
  }
  return costs;
}

export type UnwatchedMs = ReadonlyMap<number, number>;

export function outcomesOf(
  composite: Composite,
  profile: readonly ProfiledRun[],
  unwatchedMs: UnwatchedMs,
): readonly (Outcome & { kind: 'samples' })[] {
  const runs = profile.map(durationsIn);
  const costs = costsByNode(profile, profileCost(composite, runs, unwatchedMs));
  return composite.nodesOf.map((nodes) => ({
    kind: 'samples',
    runMs: runs.map((durations) => nodes.reduce((sum, node) => sum + durationOf(durations, node), 0)),
    warmupMs: [],
    overheadMs: sumOf(nodes.map((node) => costs.get(node) ?? 0)),
  }));
}

interface Cost {
  readonly sessionMs: number;
  readonly costMs: number;
}

/**
 * Divides the cost of a composite among its bricks. The cost of the session is divided by the bytes of their weights,
 * the rest by the time of their runs.
 */
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
 * Measures bricks together: in one session of a graph that has each brick once, with the runtime's own profile. Either
 * all bricks have samples, or all fail for the same reason. The agent finds the brick that fails by halving.
 *
 * @throws PlatformError where the request is wrong (`usage`) or the machine fails (`storage`)
 */
export async function measureBricks(job: MeasureBricksJob, context: MeasureContext): Promise<readonly Measured[]> {
  const { bricks, paddingBytes, runOptions, limits } = job;
  const protocol = protocolOfComposite(job.protocol);
  const startNs = context.nowNs();
  const elapsedMs = (): number => Number(context.nowNs() - startNs) / NS_PER_MS;
  const failed = (error: unknown, stage: 'open' | 'run', sessionMs = elapsedMs()): readonly Measured[] => {
    const outcome = failedOutcome(error, stage);
    const cost = { sessionMs: sessionMs / bricks.length, costMs: elapsedMs() / bricks.length };
    return bricks.map(() => ({ outcome, ...cost, peakMemoryBytes: context.peakMemoryBytes() }));
  };

  await context.onProgress({ phase: 'preparing', runsDone: 0, runsTotal: protocol.warmupRuns + protocol.runs });
  let composite: Composite;
  let open: OpenProfiled;
  try {
    const unwatchedMs = new Map<number, number>();
    for (const inputs of IDLE_INPUTS) unwatchedMs.set(inputs, await unwatchedNodeMs(inputs, runOptions, context));
    composite = compositeOf(bricks, paddingBytes);
    const request = { benchmark: composite.benchmark, runOptions, memoryLimitBytes: limits.memoryLimitBytes };
    const load = { level: 'APPLICATION_TRACE' } as const;
    open = await context.recorder.section('load_model', load, () =>
      openProfiled(request, context, { plansMemory: false }),
    );
    const sessionMs = elapsedMs();
    try {
      const conditions = context.watchConditions();
      const { profile, ...timed } = await open.run(protocol);
      recordRuns(context.recorder, timed, { profile, bricks: bricks.length });
      const outcomes = outcomesOf(composite, profile, unwatchedMs);
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
