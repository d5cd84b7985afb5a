/**
 * The statistics that estimates are made of.
 *
 * - Trimmed mean: the platform's default, sort, drop floor(0.2 n) values at each end, mean; of fewer than three values the mean,
 *   of three the median.
 * - Its standard error: Tukey and McLaughlin (1963), Sankhya A 25(3): the winsorized standard deviation over
 *   (1 - 2 * trim) * sqrt(n). Chosen over a bootstrap since it is exact arithmetic on the samples, costs nothing, and
 *   adds up over bricks.
 */

/** Share of the values dropped at each end. */
export const TRIM = 0.2;

/** A time with the interval that contains it with the stated confidence. Milliseconds. */
export interface Interval {
  readonly ms: number;
  readonly lowMs: number;
  readonly highMs: number;
}

/** What is known of one benchmark's latency. */
export interface Summary {
  /** Trimmed mean in ms. */
  readonly ms: number;
  /** Standard error of `ms`, in ms; 0 for a single sample, about which nothing is known. */
  readonly standardErrorMs: number;
  readonly samples: number;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function droppedAtEachEnd(count: number): number {
  return count === 3 ? 1 : count < 3 ? 0 : Math.floor(TRIM * count);
}

/** @param samples at least one value, in any order */
export function trimmedMean(samples: readonly number[]): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const dropped = droppedAtEachEnd(sorted.length);
  return mean(sorted.slice(dropped, sorted.length - dropped));
}

/** @param samples at least one value, in any order; ms */
export function summarize(samples: readonly number[]): Summary {
  const sorted = [...samples].sort((a, b) => a - b);
  const count = sorted.length;
  const dropped = droppedAtEachEnd(count);
  const kept = sorted.slice(dropped, count - dropped);
  const ms = mean(kept);
  if (count < 2) return { ms, standardErrorMs: 0, samples: count };
  const [lowest = ms] = kept;
  const highest = kept.at(-1) ?? ms;
  const winsorized = sorted.map((value) => Math.min(Math.max(value, lowest), highest));
  const center = mean(winsorized);
  const variance = winsorized.reduce((sum, value) => sum + (value - center) ** 2, 0) / (count - 1);
  const keptShare = kept.length / count;
  return { ms, standardErrorMs: Math.sqrt(variance) / (keptShare * Math.sqrt(count)), samples: count };
}

/** Share of cases in which an interval of this project claims to hold the true value. */
export const CONFIDENCE = 0.95;

/** The 0.975 quantile of the standard normal distribution. */
const NORMAL_QUANTILE = 1.959963984540054;

/**
 * The 0.975 quantile of Student's t distribution: Cornish-Fisher expansion (Abramowitz and Stegun 26.7.5), within 1 %
 * from 4 degrees of freedom on.
 */
export function studentQuantile(degreesOfFreedom: number): number {
  const z = NORMAL_QUANTILE;
  const f = Math.max(1, degreesOfFreedom);
  return z + (z ** 3 + z) / (4 * f) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * f ** 2);
}

/** Degrees of freedom of a trimmed mean: values kept, less one. */
function degreesOfFreedom({ samples }: Summary): number {
  return samples - 2 * droppedAtEachEnd(samples) - 1;
}

/** A benchmark's latency, and how often it counts. */
export interface Term {
  readonly summary: Summary;
  readonly count: number;
}

/**
 * A sum of measured latencies with its interval. A term that counts n times was measured once, so its error counts n
 * times as well; errors of different terms are independent. The fewest degrees of freedom among the terms decide.
 */
export function sumWithInterval(terms: readonly Term[]): Interval {
  let ms = 0;
  let variance = 0;
  let fewest = Infinity;
  for (const { summary, count } of terms) {
    ms += count * summary.ms;
    variance += (count * summary.standardErrorMs) ** 2;
    fewest = Math.min(fewest, degreesOfFreedom(summary));
  }
  const margin = studentQuantile(fewest) * Math.sqrt(variance);
  return { ms, lowMs: Math.max(0, ms - margin), highMs: ms + margin };
}

/** @param values positive numbers; undefined for none */
export function geometricMean(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : Math.exp(mean(values.map(Math.log)));
}

/** undefined for no values. */
export function meanOf(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : mean(values);
}
