import { sumOf } from './sum-of.js';

/** @param values at least one */
export function mean(values: Iterable<number> & ArrayLike<number>): number {
  return sumOf(values) / values.length;
}

/** @param values at least one, in any order */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return mean([sorted[Math.floor(middle)] ?? NaN, sorted[Math.ceil(middle)] ?? NaN]);
}
