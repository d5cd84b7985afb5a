/** Floating-point numbers err here: 0.999 * 1000 is a little more than 999. */
export const wholeFrom = (value: number): number => Math.ceil(value - 1e-9);

/** A share of the sorted values by the nearest rank: the value at index ceil(n p) - 1. NaN without values. */
export function nearestRank(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.max(0, wholeFrom(share * sorted.length) - 1)] ?? NaN;
}

/** How sure a run must be that no more than its share of all queries is over a bound; MLPerf's LoadGen asks for as much. */
const CONFIDENCE = 0.99;

/**
 * MLPerf's early stopping: the most queries over a bound with which a run shows that at least a share `p` of all
 * queries is within it, P(Binomial(n, 1 - p) <= t) <= 1 %; -1 where the run has too few queries for any.
 */
export function mostOver(queries: number, p: number): number {
  const over = 1 - p;
  let logPart = queries * Math.log1p(-over);
  let sum = Math.exp(logPart);
  for (let t = 0; ; t++) {
    if (sum > 1 - CONFIDENCE) return t - 1;
    if (t >= queries) return t;
    logPart += Math.log(((queries - t) / (t + 1)) * (over / p));
    sum += Math.exp(logPart);
  }
}

/** The fewest queries of which `over` may be over the bound; see {@link mostOver}. */
export function leastQueries(p: number, over: number): number {
  let high = 1;
  while (mostOver(high, p) < over) high *= 2;
  let low = Math.floor(high / 2);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (mostOver(middle, p) < over) low = middle;
    else high = middle;
  }
  return high;
}

/**
 * An upper estimate of a closed loop's percentile by early stopping: the slowest query but t - 1, for the largest t
 * that the number of queries allows; null where it allows not even t = 1.
 */
export function upperPercentile(sorted: ArrayLike<number>, p: number): number | null {
  const t = mostOver(sorted.length, p);
  return t < 1 ? null : (sorted[sorted.length - t] ?? null);
}
