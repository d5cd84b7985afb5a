import { mean } from '../base/mean.js';
import { sumOf } from '../base/sum-of.js';
import type { Outcome } from './measurement.js';

/** Share of the sorted samples that is dropped at each end. */
export const TRIM = 0.2;

/** Ascending, without floor(trim n) at each end; of three, without one at each end. */
export function trimmed(samples: readonly number[], trim = TRIM): readonly number[] {
  const sorted = [...samples].sort((a, b) => a - b);
  const dropped = sorted.length === 3 ? 1 : Math.floor(trim * sorted.length);
  return sorted.slice(dropped, sorted.length - dropped);
}

/** Of three it is the median; NaN without samples. Source: rai-project/evaluation, TrimmedMean. */
export function trimmedMean(samples: readonly number[]): number {
  return mean(trimmed(samples));
}

/** Of the sums, so that a disturbance of several runs does not count as one of every run. */
const TRIM_OF_SUMS = 0.35;

/**
 * What all runs take longer than their parts by trimmed means, as a factor of at least 1. A run is disturbed in some
 * part nearly always, and each part in few of its runs: its own mean leaves them out, and the mean of whole runs does not.
 *
 * @param parts times of each part, in the same order of runs
 */
export function factorOfSums(parts: readonly (readonly number[])[]): number {
  const sums = (parts[0] ?? []).map((_, run) => sumOf(parts.map((part) => part[run] ?? 0)));
  const factor = mean(trimmed(sums, TRIM_OF_SUMS)) / sumOf(parts.map(trimmedMean));
  return factor > 1 && factor < Infinity ? factor : 1;
}

/** Milliseconds; null without samples. */
export function latencyOfOutcome(outcome: Outcome | undefined): number | null {
  return outcome?.kind === 'samples' ? trimmedMean(outcome.runMs) : null;
}
