/** Percentile of the runs' times, by the nearest rank. @param sortedMs at least one */
export function percentileOf(sortedMs: readonly number[], percentage: number): number {
  return sortedMs[Math.ceil((percentage / 100) * sortedMs.length) - 1] ?? NaN;
}
