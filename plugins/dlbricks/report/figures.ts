import { finite, UNKNOWN, maxOf } from '../../../src/plugin-api.js';
import { geometricMean, meanIfAny } from '../estimate/statistics.js';

/** null where it would be infinite, or no number. */
export function ratio(dividend: number | null, divisor: number | null): number | null {
  return dividend === null || divisor === null ? null : finite(dividend / divisor);
}

export function toPercent(share: number | undefined): number | null {
  return share === undefined ? null : finite(share * 100);
}

export function percent(value: number | null, digits = 1): string {
  return value === null ? UNKNOWN : `${value.toFixed(digits)} %`;
}

/** A ratio in percent; not known where it is to 0 or not finite. */
export function relative(difference: number, to: number): string {
  const share = difference / to;
  return Number.isFinite(share) ? percent(share * 100) : UNKNOWN;
}

/** With its sign. */
export function signedRelative(difference: number, to: number): string {
  const text = relative(difference, to);
  return difference >= 0 && text !== UNKNOWN ? `+${text}` : text;
}

/** @param normalized estimate / measured latency of each model */
export function computeAccuracy(normalized: readonly number[]) {
  const errors = normalized.map((value) => Math.abs(value - 1) * 100);
  return {
    geomean_normalized_latency: geometricMean(normalized) ?? null,
    mape_percent: meanIfAny(errors) ?? null,
    worst_percent: errors.length === 0 ? null : maxOf(errors),
    within_5_percent: errors.filter((error) => error <= 5).length,
    within_10_percent: errors.filter((error) => error <= 10).length,
  };
}

export type Accuracy = Readonly<ReturnType<typeof computeAccuracy>>;
