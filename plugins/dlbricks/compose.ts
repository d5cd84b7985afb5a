import type { Measurement } from '../../src/plugin-api.js';
import type { ModelRecipe } from './recipe.js';
import { type Interval, perCopy, type Summary, summarize, sumWithInterval } from './statistics.js';

/** A brick that an estimate needs and has no latency for. */
export interface Missing {
  readonly signature: string;
  readonly operators: readonly string[];
  /** How many of the model's sequences it stands for. */
  readonly count: number;
  /** Why: never measured, or how measuring it failed. */
  readonly reason: string;
}

/** A model's latency, constructed from its bricks. */
export interface Estimate {
  readonly name: string;
  readonly layers: number;
  readonly sequences: number;
  readonly uniqueBricks: number;
  /** Share of the sequences that were really measured, 0 to 1. */
  readonly coverage: number;
  /** Sum over all measured sequences; covers only its part where coverage is below 1. undefined where nothing is measured. */
  readonly sequential: Interval | undefined;
  /** Longest path through the graph of sequences: what a runtime with unlimited parallelism would need. */
  readonly parallel: Interval | undefined;
  readonly missing: readonly Missing[];
}

/**
 * Sum of the heaviest path. Sequences are in topological order, so that one pass is enough.
 * @param weights per sequence; a sequence without a latency weighs nothing, and the estimate's coverage says so
 * @returns the sequences on the path
 */
function longestPath(recipe: ModelRecipe, weights: readonly number[]): number[] {
  const incoming: number[][] = recipe.sequences.map(() => []);
  for (const [from, to] of recipe.edges) incoming[to]?.push(from);
  const length: number[] = [];
  const previous: number[] = [];
  for (const [sequence, from] of incoming.entries()) {
    let best = -1;
    for (const candidate of from) if (best < 0 || (length[candidate] ?? 0) > (length[best] ?? 0)) best = candidate;
    previous.push(best);
    length.push((weights[sequence] ?? 0) + (length[best] ?? 0));
  }
  let at = length.reduce((best, value, index) => (value > (length[best] ?? -1) ? index : best), -1);
  const path: number[] = [];
  for (; at >= 0; at = previous[at] ?? -1) path.push(at);
  return path.reverse();
}

/** What is known of one benchmark, or why nothing is. */
type Known = Summary | string;

function knownOf(signature: string, measurements: ReadonlyMap<string, Measurement>): Known {
  const outcome = measurements.get(signature)?.outcome;
  if (outcome?.kind === 'samples') return summarize(outcome.runMs);
  return outcome === undefined ? 'not measured on this system' : `${outcome.reason}: ${outcome.message}`;
}

type BrickRecipe = ModelRecipe['bricks'][number];

function latencyOf({ signature, context }: BrickRecipe, measurements: ReadonlyMap<string, Measurement>): Known {
  if (context === undefined) return knownOf(signature, measurements);
  const benchmark = knownOf(context.benchmark, measurements);
  const baseline = knownOf(context.baseline, measurements);
  if (typeof benchmark === 'string') return benchmark;
  return typeof baseline === 'string' ? baseline : perCopy(benchmark, baseline, context.copies);
}

function intervalOver(
  sequences: readonly number[],
  known: readonly Known[],
  call: Known | undefined,
): Interval | undefined {
  const counts = new Map<number, number>();
  for (const brick of sequences) counts.set(brick, (counts.get(brick) ?? 0) + 1);
  const terms = [...counts].flatMap(([brick, count]) => {
    const summary = known[brick];
    return summary === undefined || typeof summary === 'string' ? [] : [{ summary, count }];
  });
  if (terms.length === 0) return undefined;
  const ofCall = call === undefined || typeof call === 'string' ? [] : [{ summary: call, count: 1 }];
  return sumWithInterval([...terms, ...ofCall]);
}

/**
 * Composes a model's latency from measurements of its bricks (DLBricks, section 3.3): the sequential total is the sum
 * over its sequences, the parallel total the longest path. Bricks without a successful measurement are listed, and
 * count for nothing but coverage.
 *
 * @param measurements by signature, all of one machine
 */
export function compose(recipe: ModelRecipe, measurements: ReadonlyMap<string, Measurement>): Estimate {
  const { name, layers, bricks, sequences } = recipe;
  const counts = bricks.map(() => 0);
  for (const brick of sequences) counts[brick] = (counts[brick] ?? 0) + 1;
  const known = bricks.map((brick) => latencyOf(brick, measurements));
  const call = recipe.call === undefined ? undefined : knownOf(recipe.call, measurements);
  const missing = bricks.flatMap(({ signature, operators }, index): Missing[] => {
    const reason = known[index];
    return typeof reason === 'string' ? [{ signature, operators, count: counts[index] ?? 0, reason }] : [];
  });
  const msOf = (brick: number): number | undefined => {
    const summary = known[brick];
    return typeof summary === 'object' ? summary.ms : undefined;
  };
  const missed = missing.reduce((sum, { count }) => sum + count, 0);
  const path = longestPath(
    recipe,
    sequences.map((brick) => msOf(brick) ?? 0),
  );
  return {
    name,
    layers,
    sequences: sequences.length,
    uniqueBricks: bricks.length,
    coverage: sequences.length === 0 ? 0 : (sequences.length - missed) / sequences.length,
    sequential: intervalOver(sequences, known, call),
    parallel: intervalOver(
      path.map((sequence) => sequences[sequence] ?? 0),
      known,
      call,
    ),
    missing:
      typeof call === 'string' && recipe.call !== undefined
        ? [...missing, { signature: recipe.call, operators: ['(empty call)'], count: 0, reason: call }]
        : missing,
  };
}
