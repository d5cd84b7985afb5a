import { counted, nearestRank, type Protocol, wholeFrom } from '../../src/plugin-api.js';

/** One run is then beyond the percentile: 100 for p99, 10 for p90, and as many for p1 and p10. */
export function runsFor(percentage: number): number {
  return wholeFrom(100 / Math.min(percentage, 100 - percentage));
}

/** By the nearest rank; null where there are too few runs. */
export function percentileMs(sortedMs: readonly number[], percentage: number): number | null {
  return sortedMs.length < runsFor(percentage) ? null : nearestRank(sortedMs, percentage / 100);
}

export function tooFewRuns(percentage: number, runs: number, protocol: Protocol): string {
  const least = runsFor(percentage);
  const remedy =
    protocol.runs < least
      ? `--runs ${least} (protocol.runs in manifests) asks for them`
      : `the time budget ended the runs; protocol.min_runs: ${least} in a manifest of an evaluation takes all of them`;
  return `p${percentage} needs ${counted(least, 'run')}, and there are ${runs}; ${remedy}`;
}
