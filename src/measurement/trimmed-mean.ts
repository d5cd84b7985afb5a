import { mean } from '../base/mean.js';
import type { Outcome } from './measurement.js';

/** Share of the sorted samples that is dropped at each end. */
export const TRIM = 0.2;

/** Ascending, without floor(0.2 n) at each end; of three, without one at each end. */
export function trimmed(samples: readonly number[]): readonly number[] {
  const sorted = [...samples].sort((a, b) => a - b);
  const dropped = sorted.length === 3 ? 1 : Math.floor(TRIM * sorted.length);
  return sorted.slice(dropped, sorted.length - dropped);
}

/** Of three it is the median; NaN without samples. Source: rai-project/evaluation, TrimmedMean. */
export function trimmedMean(samples: readonly number[]): number {
  return mean(trimmed(samples));
}

/** Milliseconds; null without samples. */
export function latencyOfOutcome(outcome: Outcome | undefined): number | null {
  return outcome?.kind === 'samples' ? trimmedMean(outcome.runMs) : null;
}
