import { studentWidth } from '../measurement/student.js';

/** A ratio, the second side over the first, with its interval. */
export interface PairedRatio {
  /** Geometric mean of the rounds. */
  readonly ratio: number;
  /** undefined, like `high`, with fewer than two rounds. */
  readonly low: number | undefined;
  readonly high: number | undefined;
  readonly rounds: number;
}

/** Times of the two sides in one round, in the same unit. */
export type PairedTimes = readonly [first: number, second: number];

export interface PairedConfidence {
  /** Probability that one of the intervals of a table does not contain its ratio. */
  readonly tail: number;
  /** Intervals that the table has (Bonferroni). */
  readonly comparisons: number;
}

/** One interval with a confidence of 95 %. */
export const ONE_INTERVAL: PairedConfidence = { tail: 0.05, comparisons: 1 };

/**
 * The ratio of two sides that were measured in rounds. Only the difference within a round counts, so that what changes
 * from minute to minute, and affects both sides, is in no interval: Student's interval of the mean logarithm.
 *
 * @returns undefined without a round in which both times are above 0
 */
export function pairedRatio(
  rounds: readonly PairedTimes[],
  { tail, comparisons }: PairedConfidence = ONE_INTERVAL,
): PairedRatio | undefined {
  const logs = rounds.filter((times) => times.every((time) => time > 0)).map(([a, b]) => Math.log(b / a));
  const count = logs.length;
  if (count === 0) return undefined;
  const mean = logs.reduce((sum, log) => sum + log, 0) / count;
  if (count === 1) return { ratio: Math.exp(mean), low: undefined, high: undefined, rounds: count };
  const variance = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / (count - 1);
  const half = studentWidth(tail / Math.max(1, comparisons), count - 1) * Math.sqrt(variance / count);
  return { ratio: Math.exp(mean), low: Math.exp(mean - half), high: Math.exp(mean + half), rounds: count };
}
