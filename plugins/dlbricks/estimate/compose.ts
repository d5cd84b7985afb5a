import { type BrickLatency, brickLatency, callLatency, countsOf, type Observations } from './brick-latency.js';
import type { ModelRecipe } from '../bricks/recipe.js';
import {
  errorsWithinRuns,
  type Interval,
  intervalAround,
  marginOf,
  type Spread,
  type Summary,
  sumWithInterval,
} from './statistics.js';

/** A brick that an estimate needs and has no latency for. */
export interface Missing {
  readonly signature: string;
  readonly operators: readonly string[];
  /** How many of the model's sequences it stands for. */
  readonly count: number;
  /** Why: never measured, or how measuring it failed. */
  readonly reason: string;
}

/** A brick that an estimate is made of. */
export interface Part {
  readonly signature: string;
  /** Signature of what is measured for it: the graph of its copies, or itself. */
  readonly benchmark: string;
  readonly operators: readonly string[];
  /** How many of the model's sequences it stands for. */
  readonly count: number;
  /** How many copies in one graph stand for its context; undefined where it was measured on its own. */
  readonly copies: number | undefined;
  /** Latency in ms; undefined where it has none. */
  readonly ms: number | undefined;
  /** On how many occasions it was measured, each in a process of its own. */
  readonly occasions: number;
  /** On how many occasions that was tried; on some it may have failed. */
  readonly tried: number;
  /** Timed runs of all occasions together. */
  readonly runs: number;
  /** Wall time that all occasions cost, ms. */
  readonly costMs: number;
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
  /** Half the width of the interval of the bricks' own error, relative: what measuring more would reduce. undefined where not known. */
  readonly measuringError: number | undefined;
  /** Its bricks, in the order of the recipe. */
  readonly parts: readonly Part[];
  readonly missing: readonly Missing[];
}

/**
 * Sum of the heaviest path. Sequences are in topological order, so that one pass is enough.
 * @param weights per sequence; a sequence without a latency weighs nothing, and the estimate's coverage says so
 * @returns the sequences on the path
 */
export function longestPath(recipe: Pick<ModelRecipe, 'sequences' | 'edges'>, weights: readonly number[]): number[] {
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

/**
 * What the method itself leaves out, as a standard deviation relative to the latency: a model is not quite the sum of its
 * bricks, however well they are measured. Estimated over all models of docs/accuracy.md together, not fitted to any.
 */
export const METHOD_ERROR = 0.02;

/** What a sum over sequences may be off by. */
interface Uncertainty {
  readonly interval: Interval;
  /** Of the interval, the part that measuring bricks on more occasions would take away, relative; undefined where not known. */
  readonly measuringError: number | undefined;
}

interface MeasuredSum {
  readonly terms: readonly { readonly latency: BrickLatency; readonly count: number }[];
  readonly call: Summary | undefined;
}

/**
 * The interval in which a measurement of the whole model is expected, taken in a process of its own at another time.
 * Its parts: the spread between occasions, once for the bricks' mean, whose errors go together since the machine
 * drifts for all alike, and once for that measurement of the model; the spread of runs within processes; and the method's own error.
 */
function predictionInterval({ terms, call }: MeasuredSum, spread: Spread | undefined): Uncertainty {
  const parts = [
    ...terms.map(({ latency: { within }, count }) => ({ summary: within, count })),
    ...(call === undefined ? [] : [{ summary: call, count: 1 }]),
  ];
  const ms = parts.reduce((sum, { summary, count }) => sum + summary.ms * count, 0);
  const withinRuns = errorsWithinRuns(parts);
  if (spread === undefined || withinRuns === undefined) {
    return { interval: { ms, lowMs: undefined, highMs: undefined }, measuringError: undefined };
  }
  const ofBricks = terms.reduce((sum, { latency, count }) => {
    return sum + (count * latency.ms * spread.relative) / Math.sqrt(latency.occasionsMs.length);
  }, 0);
  const { degreesOfFreedom } = spread;
  const measuring = [...withinRuns, { deviationMs: ofBricks, degreesOfFreedom }];
  const margin = marginOf([
    ...withinRuns,
    { deviationMs: Math.hypot(ofBricks, ms * spread.relative), degreesOfFreedom },
    { deviationMs: ms * METHOD_ERROR, degreesOfFreedom: Infinity },
  ]);
  return { interval: intervalAround(ms, margin), measuringError: ms > 0 ? marginOf(measuring) / ms : undefined };
}

/** The paper's way knows only how runs within one process differ. */
function intervalWithinRuns({ terms }: MeasuredSum): Uncertainty {
  const interval = sumWithInterval(terms.map(({ latency: { within }, count }) => ({ summary: within, count })));
  return { interval, measuringError: undefined };
}

/**
 * Composes a model's latency from measurements of its bricks (DLBricks, section 3.3): the sequential total is the sum
 * over its sequences, the parallel total the longest path. Bricks without a successful measurement are listed, and
 * count for nothing but coverage.
 *
 * @param spread between occasions of measuring; without, nothing is known of how far an estimate in context may be off
 */
export function compose(recipe: ModelRecipe, observations: Observations, spread?: Spread): Estimate {
  const { name, layers, bricks, sequences } = recipe;
  const counts = countsOf(recipe);
  const known = bricks.map((brick) => brickLatency(brick, observations));
  const call = recipe.call === undefined ? undefined : callLatency(recipe.call, observations);
  const missing = bricks.flatMap(({ signature, operators }, index): Missing[] => {
    const reason = known[index];
    return typeof reason === 'string' ? [{ signature, operators, count: counts[index] ?? 0, reason }] : [];
  });
  const latencyAt = (brick: number): BrickLatency | undefined => {
    const latency = known[brick];
    return typeof latency === 'object' ? latency : undefined;
  };
  const sumOver = (ofBricks: readonly number[]): Uncertainty | undefined => {
    const terms = ofBricks.flatMap((count, brick) => {
      const latency = latencyAt(brick);
      return latency === undefined || count === 0 ? [] : [{ latency, count }];
    });
    if (terms.length === 0) return undefined;
    const sum = { terms, call: typeof call === 'object' ? call : undefined };
    return recipe.call === undefined ? intervalWithinRuns(sum) : predictionInterval(sum, spread);
  };
  const path = longestPath(
    recipe,
    sequences.map((brick) => latencyAt(brick)?.ms ?? 0),
  );
  const missed = missing.reduce((sum, { count }) => sum + count, 0);
  const sequential = sumOver(counts);
  return {
    name,
    layers,
    sequences: sequences.length,
    uniqueBricks: bricks.length,
    coverage: sequences.length === 0 ? 0 : (sequences.length - missed) / sequences.length,
    sequential: sequential?.interval,
    parallel: sumOver(countsOf({ ...recipe, sequences: path.map((sequence) => sequences[sequence] ?? 0) }))?.interval,
    measuringError: sequential?.measuringError,
    parts: bricks.map(({ signature, operators, context }, index) => {
      const latency = latencyAt(index);
      const benchmark = context?.benchmark ?? signature;
      return {
        signature,
        benchmark,
        operators,
        count: counts[index] ?? 0,
        copies: context?.copies,
        ms: latency?.ms,
        occasions: latency?.occasionsMs.length ?? 0,
        tried: observations.get(benchmark)?.length ?? 0,
        runs: latency?.runs ?? 0,
        costMs: latency?.costMs ?? 0,
      };
    }),
    missing:
      typeof call === 'string' && recipe.call !== undefined
        ? [...missing, { signature: recipe.call, operators: ['(empty call)'], count: 0, reason: call }]
        : missing,
  };
}
