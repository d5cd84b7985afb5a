import { z } from 'zod';
import { counted } from '../../base/counted.js';
import { maxOf, minOf } from '../../base/long-lists.js';
import { withCamelKeys } from '../../base/snake-case.js';
import { type Measurement, storedMeasurementSchema } from '../../measurement/measurement.js';
import { measurementWarnings } from '../../measurement/noise.js';
import { trimmedMean } from '../../measurement/trimmed-mean.js';
import type { Finding } from './finding.js';
import { findingOfWarning } from './machine.js';

/** A series whose first run takes this many times its mean was not warm. */
const MAX_FIRST_RUN_RATIO = 1.5;

/** Runs that show whether a series drifts, and the standard errors from which a rank correlation is no chance. */
const DRIFT_RUNS = 10;
const DRIFT_ERRORS = 3.3;

/** Spearman's correlation of time and index; values that are equal keep their order. */
function computeDrift(runMs: readonly number[]): number {
  const order = runMs.map((ms, index) => ({ ms, index })).sort((a, b) => a.ms - b.ms);
  const squares = order.reduce((sum, { index }, rank) => sum + (rank - index) ** 2, 0);
  return 1 - (6 * squares) / (runMs.length * (runMs.length ** 2 - 1));
}

function isDrifting(runMs: readonly number[]): boolean {
  const { length } = runMs;
  return length >= DRIFT_RUNS && Math.abs(computeDrift(runMs)) * Math.sqrt(length - 1) > DRIFT_ERRORS;
}

function seriesFindings(measurements: readonly Measurement[]): Finding[] {
  const series = measurements.flatMap(({ outcome }) => (outcome.kind === 'samples' ? [outcome.runMs] : []));
  const slow = series.filter(
    (runMs) => (runMs[0] ?? 0) > MAX_FIRST_RUN_RATIO * trimmedMean(runMs) && runMs.length >= 3,
  ).length;
  const drifting = series.filter(isDrifting).length;
  const why = 'the runs before were too few to reach a steady state';
  const remedy = 'measure again with a larger --warmup';
  const found = (count: number, what: string): string =>
    `${count} of ${counted(series.length, 'series', 'series')} ${what}`;
  return [
    ...(slow === 0
      ? []
      : [{ id: 'slow_first_run', level: 'warn' as const, found: found(slow, 'begin with a slow run'), why, remedy }]),
    // One of a thousand drifts by chance.
    ...(drifting <= series.length / 100
      ? []
      : [{ id: 'drift', level: 'warn' as const, found: found(drifting, 'become faster or slower'), why, remedy }]),
  ];
}

const resultsSchema = z.looseObject({ measurements: z.array(storedMeasurementSchema).min(1) });

export function measurementFindings(content: unknown): Finding[] {
  const measurements = resultsSchema.safeParse(withCamelKeys(content)).data?.measurements;
  if (measurements === undefined) return [];
  const threads = maxOf(measurements.map(({ system }) => system.runOptions.threads));
  const cores = minOf(measurements.map(({ system }) => system.cores));
  return [
    ...seriesFindings(measurements),
    ...measurementWarnings(measurements, { threads, cores }).map(findingOfWarning),
  ];
}
