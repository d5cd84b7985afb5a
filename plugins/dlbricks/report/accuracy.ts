import { geometricMean, meanIfAny } from '../estimate/statistics.js';

export interface Accuracy {
  readonly geomean_normalized_latency: number | null;
  readonly mape_percent: number | null;
  readonly worst_percent: number | null;
  readonly within_5_percent: number;
  readonly within_10_percent: number;
}

/** @param normalized estimate / measured latency of each model */
export function computeAccuracy(normalized: readonly number[]): Accuracy {
  const errors = normalized.map((value) => Math.abs(value - 1) * 100);
  return {
    geomean_normalized_latency: geometricMean(normalized) ?? null,
    mape_percent: meanIfAny(errors) ?? null,
    worst_percent: errors.length === 0 ? null : Math.max(...errors),
    within_5_percent: errors.filter((error) => error <= 5).length,
    within_10_percent: errors.filter((error) => error <= 10).length,
  };
}
