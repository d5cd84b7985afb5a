/** Share of the sorted samples that is dropped at each end. */
const TRIM = 0.2;

/**
 * The platform's statistic for repeated times: sorted, floor(0.2 n) dropped at each end, the mean of the rest. Of three
 * it is the median. NaN of none.
 *
 * Source: rai-project/evaluation, TrimmedMean.
 */
export function trimmedMean(samples: readonly number[]): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const dropped = sorted.length === 3 ? 1 : Math.floor(TRIM * sorted.length);
  const kept = sorted.slice(dropped, sorted.length - dropped);
  return kept.reduce((sum, sample) => sum + sample, 0) / kept.length;
}
