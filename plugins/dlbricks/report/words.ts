import { UNKNOWN } from '../../../src/plugin-api.js';

export function percent(value: number | null, digits = 1): string {
  return value === null ? UNKNOWN : `${value.toFixed(digits)} %`;
}

/** A ratio in percent; not known where it is to 0 or not finite. */
export function relative(difference: number, to: number): string {
  const share = difference / to;
  return Number.isFinite(share) ? percent(share * 100) : UNKNOWN;
}
