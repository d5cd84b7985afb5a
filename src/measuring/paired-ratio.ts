import { maxOf, minOf } from '../base/long-lists.js';
import { mean } from '../base/mean.js';
import { studentWidth } from '../measurement/student.js';
import { trimmed } from '../measurement/trimmed-mean.js';

export interface PairedRatio {
  /** Geometric mean of the rounds without the smallest and the largest ones. */
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
const ONE_INTERVAL: PairedConfidence = { tail: 0.05, comparisons: 1 };

/** With fewer rounds, none is left out. */
const MIN_TRIMMED = 8;

/**
 * Only differences within a round count. One side of a round may be disturbed for seconds, so the interval is that of
 * the trimmed mean of the logarithms (Tukey and McLaughlin, Sankhya A 25(3), 1963), or of the mean with few rounds.
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
  const kept = count < MIN_TRIMMED ? logs : trimmed(logs);
  const center = mean(kept);
  if (count === 1) return { ratio: Math.exp(center), low: undefined, high: undefined, rounds: count };
  const lowest = minOf(kept);
  const highest = maxOf(kept);
  const winsorized = logs.map((log) => Math.min(Math.max(log, lowest), highest));
  const middle = mean(winsorized);
  const variance = winsorized.reduce((sum, log) => sum + (log - middle) ** 2, 0) / (count - 1);
  const error = Math.sqrt(variance / count) / (kept.length / count);
  const half = studentWidth(tail / Math.max(1, comparisons), kept.length - 1) * error;
  return { ratio: Math.exp(center), low: Math.exp(center - half), high: Math.exp(center + half), rounds: count };
}
