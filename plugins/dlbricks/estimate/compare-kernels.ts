import { mean, sumOf } from '../../../src/plugin-api.js';
import { countTimed } from '../bricks/recipe.js';
import { brickKey, brickLatency, type RecipeInContext, type Observations } from './brick-latency.js';
import { predictionInterval, type Spreads } from './interval.js';

export interface KernelsOfRun {
  readonly wholeMs: number;
  /** Times with the profile, and how many kernels their subgraphs ran in all; null where the profile lacks a kernel. */
  readonly kernels: readonly ({ readonly ms: number; readonly innerRuns: number } | null)[];
  readonly costMs: number;
}

export type CheckedRun =
  | ({ readonly kind: 'run'; readonly names: readonly string[] } & KernelsOfRun)
  | { readonly kind: 'failed'; readonly reason: string };

export interface ComparedBrick {
  readonly signature: string;
  readonly operators: readonly string[];
  readonly shapes: readonly string[];
  /** Name of its kernel with the longest time in the optimized graph; '' where it has none. */
  readonly kernel: string;
  readonly sequences: number;
  /** Time of these sequences in the whole graph, without the cost of the profile; ms. */
  readonly kernelsMs: number;
  readonly bricksMs: number;
  /** Whether `kernelsMs` is outside of the brick's interval; null where it has none. */
  readonly isOutside: boolean | null;
}

export type ModelCheck = ReturnType<typeof compareKernels>;

/** The profile has microseconds, and its cost differs by some of them from kernel to kernel, those of loops included. */
const RESOLUTION_MS = 3e-3;

function profileCostMs(key: string, observations: Observations): number | undefined {
  const costs = (observations.get(key) ?? []).flatMap(({ outcome }) => {
    return outcome.kind === 'samples' && outcome.overheadMs !== undefined ? [outcome.overheadMs] : [];
  });
  return costs.length === 0 ? undefined : mean(costs);
}

const NOT_ONE_BY_ONE = 'its kernels are short, so they were measured together, without the profile';

/** The profile costs as much in the whole graph as in composites. */
export function compareKernels(
  { recipe, context }: RecipeInContext,
  observations: Observations,
  run: CheckedRun,
  spreads: Spreads | undefined,
) {
  if (run.kind === 'failed') return run;
  const isInCopies = recipe.bricks.some(
    ({ context: copies, operators }) => copies !== undefined && operators.length > 1,
  );
  if (isInCopies) return { kind: 'failed' as const, reason: NOT_ONE_BY_ONE };
  const compared = recipe.bricks.map((brick) => {
    const latency = brickLatency(brick, context, observations);
    const costMs = profileCostMs(brickKey(brick, context), observations);
    const sequences: { ms: number; nodes: number; innerRuns: number; name: string }[] = [];
    return latency.kind === 'unknown' ? undefined : { brick, latency, costMs, sequences };
  });
  let first = 0;
  for (const index of recipe.sequences) {
    const nodes = recipe.bricks[index]?.operators.length ?? 0;
    const kernels = run.kernels.slice(first, first + nodes);
    const name = run.names[first] ?? '';
    first += nodes;
    if (!kernels.every((kernel) => kernel !== null)) continue;
    const ms = sumOf(kernels.map((kernel) => kernel.ms));
    compared[index]?.sequences.push({ ms, nodes, innerRuns: sumOf(kernels.map((kernel) => kernel.innerRuns)), name });
  }
  const known = compared.filter((one) => one !== undefined).filter(({ sequences }) => sequences.length > 0);
  const perNode = known.flatMap(({ costMs, brick }) => (costMs === undefined ? [] : [costMs / brick.operators.length]));
  const nodeMs = perNode.length === 0 ? 0 : mean(perNode);
  const bricks = known.map(({ brick, latency, costMs, sequences }): ComparedBrick => {
    const count = sequences.length;
    const times = sequences.map(({ ms, nodes, innerRuns }) => {
      const cost = innerRuns > 0 ? (nodes + innerRuns) * nodeMs : (costMs ?? nodes * nodeMs);
      return Math.max(0, ms - cost);
    });
    const kernelsMs = sumOf(times);
    const kernels = count * countTimed(brick);
    const { interval } = predictionInterval({ terms: [{ latency, count }], kernels, calls: [] }, spreads);
    const { ms: bricksMs, lowMs, highMs } = interval;
    const events = count + sumOf(sequences.map(({ innerRuns }) => innerRuns));
    const isLarge = Math.abs(kernelsMs - bricksMs) > events * RESOLUTION_MS;
    const hasInterval = lowMs !== undefined && highMs !== undefined;
    const isOutside = hasInterval ? (kernelsMs < lowMs || kernelsMs > highMs) && isLarge : null;
    const [longest] = sequences.toSorted((a, b) => b.ms - a.ms);
    const { signature, operators, shapes = [] } = brick;
    const kernel = longest?.name ?? '';
    return { signature, operators, shapes, kernel, sequences: count, kernelsMs, bricksMs, isOutside };
  });
  const size = ({ kernelsMs, bricksMs }: ComparedBrick): number => Math.abs(kernelsMs - bricksMs);
  return {
    kind: 'compared' as const,
    graphMs: run.wholeMs,
    kernelsMs: sumOf(bricks.map(({ kernelsMs }) => kernelsMs)),
    bricksMs: sumOf(bricks.map(({ bricksMs }) => bricksMs)),
    bricks: bricks.toSorted((a, b) => size(b) - size(a)),
    costMs: run.costMs,
  };
}
