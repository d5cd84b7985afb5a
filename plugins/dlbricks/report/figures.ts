import { finite } from '../../../src/plugin-api.js';

/** null where it would be infinite, or no number. */
export function ratio(dividend: number | null, divisor: number | null): number | null {
  return dividend === null || divisor === null ? null : finite(dividend / divisor);
}

export function toPercent(share: number | undefined): number | null {
  return share === undefined ? null : finite(share * 100);
}
