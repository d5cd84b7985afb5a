import type { Measurement } from '../../../src/plugin-api.js';
import type { ModelRecipe } from '../bricks/recipe.js';
import { perCopy, pooledSpread, type Spread, type Summary, summarize } from './statistics.js';

// Runs within one process agree far better than processes at different times do. So a brick that matters is measured on
// several occasions, each in a process of its own, and what an interval is made of is the spread between occasions.

/** Measurements by signature, one per occasion, all of one machine. */
export type Observations = ReadonlyMap<string, readonly Measurement[]>;

/** Measurements in any order, by signature and in the order of their occasions. */
export function observationsOf(measurements: Iterable<Measurement>): Observations {
  const observations = new Map<string, Measurement[]>();
  for (const measurement of measurements) {
    const others = observations.get(measurement.signature) ?? [];
    observations.set(measurement.signature, others);
    others.push(measurement);
  }
  for (const several of observations.values()) several.sort((a, b) => a.protocol.occasion - b.protocol.occasion);
  return observations;
}

/** A brick's latency in its model. */
export interface BrickLatency {
  /** Mean over the occasions, ms. */
  readonly ms: number;
  /** Latency on each occasion, ms; at least one. */
  readonly occasionsMs: readonly number[];
  /** What is known from the spread of runs within the occasions' processes. */
  readonly within: Summary;
  /** Timed runs of all occasions together. */
  readonly runs: number;
  /** Wall time that all occasions cost, ms. */
  readonly costMs: number;
}

type Brick = ModelRecipe['bricks'][number];

/** What is known of one benchmark, or why nothing is. */
export type Known<T> = T | string;

function successes(measurements: readonly Measurement[]): { measurement: Measurement; runMs: readonly number[] }[] {
  return measurements.flatMap((measurement) => {
    const { outcome } = measurement;
    return outcome.kind === 'samples' ? [{ measurement, runMs: outcome.runMs }] : [];
  });
}

function whyNone(measurements: readonly Measurement[]): string {
  const outcome = measurements[0]?.outcome;
  return outcome?.kind === 'failure' ? `${outcome.reason}: ${outcome.message}` : 'not measured on this system';
}

/** Mean of what several occasions say, each with the same weight. */
function meanSummary(summaries: readonly Summary[]): Summary {
  const count = summaries.length;
  const ms = summaries.reduce((sum, summary) => sum + summary.ms, 0) / count;
  const errors = summaries.flatMap(({ standardErrorMs }) => (standardErrorMs === undefined ? [] : [standardErrorMs]));
  return {
    ms,
    standardErrorMs: errors.length === count ? Math.hypot(...errors) / count : undefined,
    degreesOfFreedom: summaries.reduce((sum, { degreesOfFreedom }) => sum + degreesOfFreedom, 0),
  };
}

/** Latency of a call without work, over all occasions. */
export function callLatency(signature: string, observations: Observations): Known<Summary> {
  const measurements = observations.get(signature) ?? [];
  const taken = successes(measurements);
  return taken.length === 0 ? whyNone(measurements) : meanSummary(taken.map(({ runMs }) => summarize(runMs)));
}

/** A brick's latency from all its occasions; those that failed count only where all did. */
export function brickLatency({ signature, context }: Brick, observations: Observations): Known<BrickLatency> {
  const measurements = observations.get(context?.benchmark ?? signature) ?? [];
  const taken = successes(measurements);
  if (taken.length === 0) return whyNone(measurements);
  let summaries = taken.map(({ runMs }) => summarize(runMs));
  if (context !== undefined) {
    const baseline = callLatency(context.baseline, observations);
    if (typeof baseline === 'string') return baseline;
    summaries = summaries.map((together) => perCopy(together, baseline, context.copies));
  }
  const within = meanSummary(summaries);
  return {
    ms: within.ms,
    occasionsMs: summaries.map(({ ms }) => ms),
    within,
    runs: taken.reduce((sum, { runMs }) => sum + runMs.length, 0),
    costMs: taken.reduce((sum, { measurement }) => sum + measurement.costMs, 0),
  };
}

/** How often each brick of a recipe stands in its model. */
export function countsOf({ bricks, sequences }: ModelRecipe): readonly number[] {
  const counts = bricks.map(() => 0);
  for (const brick of sequences) counts[brick] = (counts[brick] ?? 0) + 1;
  return counts;
}

/**
 * How far occasions are apart, relative to a brick's latency, from all bricks that were measured more than once; each
 * counts by the time that it takes in the models. undefined where none was.
 */
export function spreadBetweenOccasions(
  recipes: readonly ModelRecipe[],
  observations: Observations,
): Spread | undefined {
  const groups = new Map<string, { values: readonly number[]; weight: number }>();
  for (const recipe of recipes) {
    const counts = countsOf(recipe);
    for (const [index, brick] of recipe.bricks.entries()) {
      const latency = brickLatency(brick, observations);
      if (typeof latency === 'string' || latency.occasionsMs.length < 2 || latency.ms <= 0) continue;
      // In another context it is another measurement.
      const benchmark = brick.context?.benchmark ?? brick.signature;
      const before = groups.get(benchmark)?.weight ?? 0;
      const weight = before + latency.ms * (counts[index] ?? 0);
      groups.set(benchmark, { values: latency.occasionsMs, weight });
    }
  }
  return pooledSpread([...groups.values()]);
}
