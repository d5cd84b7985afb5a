import { PlatformError } from '../../base/errors.js';
import { sumOf } from '../../base/sum-of.js';
import { type Composite, IDLE_INPUTS } from '../../composite/composite.js';
import { trimmedMean } from '../../measurement/trimmed-mean.js';
import type { ProfiledKernel, ProfiledRun } from '../../predictor/profile.js';

// The cost of the profile for one event. Idle nodes show how it depends on the number of inputs. Their cost is not that
// of all nodes: in a long chain of small kernels an event costs a microsecond more, and after large kernels one to two
// microseconds less, because without the profile the runtime's own work between two kernels takes longer there. So the
// same session also runs without the profile, and the difference corrects the mean cost of the nodes that are not idle
// themselves, as far as it is known more exactly than the cost of idle nodes.

/** Time that the profile adds to a node with this number of inputs, and of outputs beyond the first; ms. */
export type ProfileCost = (tensors: number) => number;

/** Times without a profile, ms. */
export interface Unwatched {
  /** Of an idle node, by its number of inputs. */
  readonly nodeMs: ReadonlyMap<number, number>;
  /** Of a call without nodes. */
  readonly callMs: number;
}

/** How much the cost of events differs between composites, as a standard deviation; ms. */
const SPREAD_OF_COST_MS = 1e-3;

/** How much the time of the nodes around bricks differs between two series of runs, relative: most of it reads memory. */
const SPREAD_OF_SURROUNDINGS = 0.03;

export function durationsIn({ kernels }: ProfiledRun): ReadonlyMap<string, number> {
  return new Map(kernels.map((kernel) => [kernel.name, msOf(kernel)]));
}

/** @throws PlatformError `unsupported` where the node is missing in the profile */
export function durationOf(durations: ReadonlyMap<string, number>, node: string): number {
  const ms = durations.get(node);
  if (ms !== undefined) return ms;
  throw new PlatformError('unsupported', `the runtime's profile has no event of node ${node}`);
}

/** The cost of an event by idle nodes alone. It is linear in the number of inputs, each of which the profile describes. */
export function costByIdleNodes(
  { idleNodes }: Pick<Composite, 'idleNodes'>,
  profile: readonly ProfiledRun[],
  { nodeMs }: Unwatched,
): ProfileCost {
  const runs = profile.map(durationsIn);
  const [few, many] = IDLE_INPUTS;
  const computeMeanCost = (inputs: number): number => {
    const watched = runs.flatMap((run) => (idleNodes.get(inputs) ?? []).map((node) => durationOf(run, node)));
    return Math.max(0, trimmedMean(watched) - (nodeMs.get(inputs) ?? 0));
  };
  const ofFew = computeMeanCost(few);
  const perInput = Math.max(0, computeMeanCost(many) - ofFew) / (many - few);
  return (inputs) => ofFew + perInput * Math.max(0, inputs - few);
}

/** The cost of a kernel's events, those of its subgraphs included. */
export function computeKernelCost({ inputDims, outputDims, inner }: ProfiledKernel, cost: ProfileCost): number {
  const tensors = inputDims.length + Math.max(0, outputDims.length - 1);
  return inner.reduce((sum, kernel) => sum + computeKernelCost(kernel, cost), cost(tensors));
}

function computeVarianceOfMean(values: readonly number[]): number {
  const mean = sumOf(values) / values.length;
  return sumOf(values.map((value) => (value - mean) ** 2)) / (values.length - 1) / values.length;
}

export function computeCostShare(profile: readonly ProfiledRun[], cost: ProfileCost): number {
  const kernels = profile.flatMap((run) => run.kernels);
  return sumOf(kernels.map((kernel) => computeKernelCost(kernel, cost))) / Math.max(1e-6, sumOf(kernels.map(msOf)));
}

function msOf({ durationNs }: ProfiledKernel): number {
  return durationNs / 1e6;
}

/**
 * Events less their cost should take as long as runs without the profile, less the call. The correction is weighted by
 * its variance against {@link SPREAD_OF_COST_MS}. Nodes that do almost nothing cost what idle nodes do.
 */
export function correctedCost(
  { nodesOf, lightNodes }: Pick<Composite, 'nodesOf' | 'lightNodes'>,
  cost: ProfileCost,
  profile: readonly ProfiledRun[],
  withoutMs: readonly number[],
  { callMs }: Unwatched,
): ProfileCost {
  if (profile.length < 2 || withoutMs.length < 2) return cost;
  const eventsMs = profile.map(({ kernels }) => sumOf(kernels.map(msOf)));
  const kernels = profile[0]?.kernels ?? [];
  const own = new Set(nodesOf.flat());
  const working = kernels.filter(({ name }) => !lightNodes.has(name));
  const aroundMs = sumOf(working.filter(({ name }) => !own.has(name)).map(msOf));
  const expectedMs = sumOf(kernels.map((kernel) => computeKernelCost(kernel, cost)));
  const differenceMs = trimmedMean(eventsMs) - (trimmedMean(withoutMs) - callMs) - expectedMs;
  const varianceOfRuns = computeVarianceOfMean(eventsMs) + computeVarianceOfMean(withoutMs);
  const variance = (varianceOfRuns + (SPREAD_OF_SURROUNDINGS * aroundMs) ** 2) / working.length ** 2;
  const weight = SPREAD_OF_COST_MS ** 2 / (SPREAD_OF_COST_MS ** 2 + variance);
  const correctionMs = (weight * differenceMs) / working.length;
  return (tensors) => Math.max(0, cost(tensors) + correctionMs);
}
