import { geometricMean, meanIfAny } from '../estimate/statistics.js';

/** @param normalized estimate / measured latency of each model */
export function computeAccuracy(normalized: readonly number[]) {
  const errors = normalized.map((value) => Math.abs(value - 1) * 100);
  return {
    geomean_normalized_latency: geometricMean(normalized) ?? null,
    mape_percent: meanIfAny(errors) ?? null,
    worst_percent: errors.length === 0 ? null : Math.max(...errors),
    within_5_percent: errors.filter((error) => error <= 5).length,
    within_10_percent: errors.filter((error) => error <= 10).length,
  };
}

export type Accuracy = Readonly<ReturnType<typeof computeAccuracy>>;
