import { inPercent, type Measurement, measurementWarnings, type NoiseWarning } from '../../../src/plugin-api.js';

/** A larger spread between occasions gives a warning. */
const MAX_SPREAD = 0.05;

export interface NoiseFacts {
  readonly measurements: readonly Measurement[];
  /** Standard deviation between occasions, relative; undefined where it is not known. */
  readonly spread: number | undefined;
  readonly threads: number;
  readonly cores: number;
  readonly canRemeasure: boolean;
}

export function noiseWarnings({ measurements, spread, canRemeasure, ...machine }: NoiseFacts): readonly NoiseWarning[] {
  const warnings = measurementWarnings(measurements, { ...machine, canRemeasure });
  if (spread === undefined || spread <= MAX_SPREAD) return warnings;
  const cause = warnings.length === 0 ? 'for an unknown reason' : 'see the other warnings';
  const message = `one brick varies by ${inPercent(spread)} from process to process, ${cause}; measure again ${canRemeasure ? 'with --remeasure all ' : ''}on a quieter machine`;
  return [...warnings, { cause: 'spread', message }];
}
