import type { Measurement } from '../../src/plugin-api.js';
import type { ModelRecipe } from './recipe.js';
import { type Interval, type Summary, summarize, sumWithInterval } from './statistics.js';

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

function intervalOver(
  brickOfSequence: readonly number[],
  summaries: readonly (Summary | undefined)[],
): Interval | undefined {
  const counts = new Map<number, number>();
  for (const brick of brickOfSequence) counts.set(brick, (counts.get(brick) ?? 0) + 1);
  const terms = [...counts].flatMap(([brick, count]) => {
    const summary = summaries[brick];
    return summary === undefined ? [] : [{ summary, count }];
  });
  return terms.length === 0 ? undefined : sumWithInterval(terms);
}

/**
 * Composes a model's latency from measurements of its bricks (DLBricks, section 3.3): the sequential total is the sum
 * over its sequences, the parallel total the longest path. Bricks without a successful measurement are listed, and
 * count for nothing but coverage.
 *
 * @param measurements by signature, all of one system and protocol
 */
export function compose(recipe: ModelRecipe, measurements: ReadonlyMap<string, Measurement>): Estimate {
  const { name, layers, bricks, sequences } = recipe;
  const counts = bricks.map(() => 0);
  for (const brick of sequences) counts[brick] = (counts[brick] ?? 0) + 1;
  const missing: Missing[] = [];
  const summaries = bricks.map(({ signature, operators }, index): Summary | undefined => {
    const outcome = measurements.get(signature)?.outcome;
    if (outcome?.kind === 'samples') return summarize(outcome.runMs);
    const reason = outcome === undefined ? 'not measured on this system' : `${outcome.reason}: ${outcome.message}`;
    missing.push({ signature, operators, count: counts[index] ?? 0, reason });
    return undefined;
  });
  const missed = missing.reduce((sum, { count }) => sum + count, 0);
  const weights = sequences.map((brick) => summaries[brick]?.ms ?? 0);
  const path = longestPath(recipe, weights);
  return {
    name,
    layers,
    sequences: sequences.length,
    uniqueBricks: bricks.length,
    coverage: sequences.length === 0 ? 0 : (sequences.length - missed) / sequences.length,
    sequential: intervalOver(sequences, summaries),
    parallel: intervalOver(
      path.map((sequence) => sequences[sequence] ?? 0),
      summaries,
    ),
    missing,
  };
}
