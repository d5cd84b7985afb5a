import {
  isCoreShared,
  isUnderLoad,
  machineWarnings,
  type Measurement,
  type NoiseWarning,
} from '../../../src/plugin-api.js';

/** Without the option, the stored measurements are used again. */
const AGAIN = 'and measure again with --remeasure all';

const DISTURBED_AGAIN = 'run the same command again, which takes these measurements again (--remeasure disturbed)';

/** Spread between occasions from which there is a warning. */
const MOST_SPREAD = 0.05;

/** The machine's state by the conditions that measurements record. */
export interface NoiseFacts {
  readonly measurements: readonly Measurement[];
  /** Standard deviation between occasions, relative; undefined where it is not known. */
  readonly spread: number | undefined;
  readonly threads: number;
  readonly cores: number;
}

/** Warnings with a cause and a remedy; none on a quiet machine. */
export function noiseWarnings({ measurements: taken, spread, threads, cores }: NoiseFacts): readonly NoiseWarning[] {
  // What failed has no latency that anything could have disturbed.
  const measurements = taken.filter(({ outcome }) => outcome.kind === 'samples');
  const conditions = measurements.flatMap((measurement) => measurement.conditions ?? []);
  const [shared, loaded] = [isCoreShared, isUnderLoad].map((is) => measurements.filter(is).length) as [number, number];
  const warnings = machineWarnings({
    conditions,
    threads,
    cores,
    again: AGAIN,
    shared:
      shared > 0
        ? `another machine ran on the same core during ${shared} of ${measurements.length} measurements; use a machine with cores of its own, or measure them again with --remeasure disturbed`
        : undefined,
    disturbed:
      loaded > 0
        ? (share) =>
            `${loaded} of ${measurements.length} measurements were disturbed by other processes, which took ${share} of the processors' time; stop them and ${DISTURBED_AGAIN}`
        : undefined,
  });
  if (spread === undefined || spread <= MOST_SPREAD) return warnings;
  const cause = warnings.length === 0 ? 'for an unknown reason' : 'see the other warnings';
  const message = `one brick varies by ${(spread * 100).toFixed(1)} % from process to process, ${cause}; measure again with --remeasure all on a quieter machine`;
  return [...warnings, { cause: 'spread', message }];
}
