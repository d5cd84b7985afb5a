import { hypotOf, mean, trimmed } from '../../../src/plugin-api.js';

/** A time with the interval that contains it with the stated confidence. Milliseconds. */
export interface Interval {
  readonly ms: number;
  /** undefined, like `highMs`, where something was measured only once and its spread is not known. */
  readonly lowMs: number | undefined;
  readonly highMs: number | undefined;
}

export interface Summary {
  readonly ms: number;
  /** Standard error of `ms`, in ms; undefined for a single sample. */
  readonly standardErrorMs: number | undefined;
  readonly degreesOfFreedom: number;
}

/** @param values at least two */
export function standardDeviation(values: readonly number[]): number {
  const center = mean(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - center) ** 2, 0) / (values.length - 1));
}

/**
 * Standard error of the median of three, relative to that of their mean: the middle one of three normal values has
 * 0.449 of their variance (Sarhan and Greenberg, Contributions to Order Statistics, 1962).
 */
const MEDIAN_OF_THREE = 1.1602;

/**
 * The trimmed mean and its standard error: the winsorized standard deviation over (1 - 2 * trim) * sqrt(n) (Tukey and
 * McLaughlin, 1963, Sankhya A 25(3)). Exact, where a bootstrap would not be, and it adds up over bricks.
 *
 * @param samples at least one value, in any order; ms
 */
export function summarize(samples: readonly number[]): Summary {
  const count = samples.length;
  const kept = trimmed(samples);
  const ms = mean(kept);
  if (count === 1) return { ms, standardErrorMs: undefined, degreesOfFreedom: 0 };
  if (count === 3) {
    return { ms, standardErrorMs: (MEDIAN_OF_THREE * standardDeviation(samples)) / Math.sqrt(3), degreesOfFreedom: 2 };
  }
  const [lowest = ms] = kept;
  const highest = kept.at(-1) ?? Infinity;
  const winsorized = samples.map((value) => Math.min(Math.max(value, lowest), highest));
  const standardErrorMs = standardDeviation(winsorized) / ((kept.length / count) * Math.sqrt(count));
  return { ms, standardErrorMs, degreesOfFreedom: kept.length - 1 };
}

/** One of several copies in one call, less the call; 0 for copies that are lost in its noise. */
export function perCopy(together: Summary, call: Summary, copies: number): Summary {
  const errors = [together, call].map(({ standardErrorMs }) => standardErrorMs);
  const isKnown = errors.every((error) => error !== undefined);
  return {
    ms: Math.max(0, together.ms - call.ms) / copies,
    standardErrorMs: isKnown ? hypotOf(errors) / copies : undefined,
    degreesOfFreedom: Math.min(together.degreesOfFreedom, call.degreesOfFreedom),
  };
}

/** Confidence level of all intervals in this project. */
export const CONFIDENCE = 0.95;

export const LEVELS = [0.5, 0.8, CONFIDENCE] as const;

export type Level = (typeof LEVELS)[number];

/** Upper quantile for a two-sided interval: of the normal distribution, and of Student's for 1, 2 and 3 degrees of freedom. */
const QUANTILES: Readonly<Record<Level, { readonly normal: number; readonly few: readonly number[] }>> = {
  0.5: { normal: 0.6744897501960817, few: [1, 0.8165, 0.7649] },
  0.8: { normal: 1.2815515655446004, few: [3.0777, 1.8856, 1.6377] },
  0.95: { normal: 1.959963984540054, few: [12.7062, 4.3027, 3.1824] },
};

/**
 * The quantile of Student's t distribution for a two-sided interval. From 4 degrees of freedom on, it is the
 * Cornish-Fisher expansion (Abramowitz and Stegun 26.7.5), whose error is within 2 %; below, it comes from a table,
 * between whose rows it is linear in the reciprocal of the degrees: rather too large, because the quantile is convex.
 */
export function studentQuantile(degreesOfFreedom: number, level: Level = CONFIDENCE): number {
  const { normal: z, few } = QUANTILES[level];
  const at = (f: number): number => {
    return few[f - 1] ?? z + (z ** 3 + z) / (4 * f) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * f ** 2);
  };
  const degrees = Math.max(1, degreesOfFreedom);
  if (degrees >= 4) return at(degrees);
  const low = Math.floor(degrees);
  const high = Math.floor(degrees) + 1;
  return at(high) + ((at(low) - at(high)) * (1 / degrees - 1 / high)) / (1 / low - 1 / high);
}

/** Standard deviation between occasions of one benchmark, relative to its mean. */
export interface Spread {
  readonly relative: number;
  readonly degreesOfFreedom: number;
}

/**
 * The variance of the deviations from each group's mean, pooled by weight, with Satterthwaite's degrees of freedom.
 * Groups with one value, with weight 0 or of zeros are ignored; undefined where none is left.
 */
export function pooledSpread(
  groups: readonly { readonly values: readonly number[]; readonly weight: number }[],
): Spread | undefined {
  let squares = 0;
  let weights = 0;
  let squaredWeights = 0;
  for (const { values, weight } of groups) {
    const center = mean(values);
    if (!(center > 0)) continue;
    squares += weight * values.reduce((sum, value) => sum + (value / center - 1) ** 2, 0);
    weights += weight * (values.length - 1);
    squaredWeights += weight ** 2 * (values.length - 1);
  }
  if (weights === 0) return undefined;
  return { relative: Math.sqrt(squares / weights), degreesOfFreedom: weights ** 2 / squaredWeights };
}

export interface ErrorSource {
  readonly deviationMs: number;
  /** Infinity where the deviation is known instead of estimated. */
  readonly degreesOfFreedom: number;
}

/** Half the width of the interval of several independent errors together; ms. */
export function computeMargin(sources: readonly ErrorSource[], level: Level = CONFIDENCE): number {
  let variance = 0;
  let varianceOfVariance = 0;
  for (const { deviationMs, degreesOfFreedom } of sources) {
    variance += deviationMs ** 2;
    varianceOfVariance += deviationMs ** 4 / degreesOfFreedom;
  }
  const degreesOfFreedom = varianceOfVariance === 0 ? Infinity : variance ** 2 / varianceOfVariance;
  return studentQuantile(degreesOfFreedom, level) * Math.sqrt(variance);
}

export interface Term {
  readonly summary: Summary;
  readonly count: number;
}

/**
 * A term that counts n times was measured once, so its error counts n times as well; errors of different terms are
 * independent. Degrees of freedom: Satterthwaite (1946), Biometrics Bulletin 2(6).
 */
export function sumWithInterval(terms: readonly Term[]): Interval {
  const ms = terms.reduce((sum, { summary, count }) => sum + count * summary.ms, 0);
  const sources = errorsWithinRuns(terms);
  return sources === undefined
    ? { ms, lowMs: undefined, highMs: undefined }
    : intervalAround(ms, computeMargin(sources));
}

/** Uncertainty by the spread of runs within processes; undefined where something was run only once. */
export function errorsWithinRuns(terms: readonly Term[]): readonly ErrorSource[] | undefined {
  const sources = terms.flatMap(({ summary: { standardErrorMs, degreesOfFreedom }, count }) => {
    return standardErrorMs === undefined ? [] : [{ deviationMs: count * standardErrorMs, degreesOfFreedom }];
  });
  return sources.length === terms.length ? sources : undefined;
}

export function intervalAround(ms: number, marginMs: number): Interval {
  return { ms, lowMs: Math.max(0, ms - marginMs), highMs: ms + marginMs };
}

export function computeHalfWidth(interval: Interval | undefined): number | undefined {
  if (interval?.highMs === undefined || !(interval.ms > 0)) return undefined;
  return (interval.highMs - interval.ms) / interval.ms;
}

/** @param values positive numbers; undefined for none */
export function geometricMean(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : Math.exp(mean(values.map(Math.log)));
}

export function meanIfAny(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : mean(values);
}
