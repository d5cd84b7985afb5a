import { counted, type Protocol } from '../../src/plugin-api.js';

/** Floating-point numbers err here: 99.9 / 100 * 1000 is a little more than 999. */
const wholeFrom = (value: number): number => Math.ceil(value - 1e-9);

/** One run is then beyond the percentile: 100 for p99, 10 for p90, and as many for p1 and p10. */
export function runsFor(percentage: number): number {
  return wholeFrom(100 / Math.min(percentage, 100 - percentage));
}

/** By the nearest rank; null where there are too few runs. */
export function percentileMs(sortedMs: readonly number[], percentage: number): number | null {
  if (sortedMs.length < runsFor(percentage)) return null;
  return sortedMs[wholeFrom((percentage / 100) * sortedMs.length) - 1] ?? null;
}

export function tooFewRuns(percentage: number, runs: number, protocol: Protocol): string {
  const least = runsFor(percentage);
  const remedy =
    protocol.runs < least
      ? `--runs ${least} (protocol.runs in manifests) asks for them`
      : `the time budget ended the runs; protocol.min_runs: ${least} in a manifest of an evaluation takes all of them`;
  return `p${percentage} needs ${counted(least, 'run')}, and there are ${runs}; ${remedy}`;
}
