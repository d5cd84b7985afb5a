/** A femtosecond: no measurement is shorter. */
const MIN_MS = 1e-9;

const MAX_MS = 366 * 24 * 3600 * 1000;

export const PLAUSIBLE_MS = `0, or from ${MIN_MS} to ${MAX_MS} ms`;

/**
 * Sums, squares and ratios of plausible times are finite, unlike those of other values from outside (1e308, 5e-324).
 */
export function isPlausibleMs(ms: number): boolean {
  return ms === 0 || (ms >= MIN_MS && ms <= MAX_MS);
}
