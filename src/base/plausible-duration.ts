/** A femtosecond, in which no processor does anything. */
const LEAST_MS = 1e-9;

/** A year, which nobody has waited for. */
const MOST_MS = 366 * 24 * 3600 * 1000;

/** What {@link isPlausibleMs} takes, for messages. */
export const PLAUSIBLE_MS = `0, or from ${LEAST_MS} to ${MOST_MS} ms`;

/**
 * Whether something may have taken so many milliseconds. Sums, squares and ratios of such times are numbers; of what else a
 * file or an agent may claim (1e308, 5e-324) they are not.
 */
export function isPlausibleMs(ms: number): boolean {
  return ms === 0 || (ms >= LEAST_MS && ms <= MOST_MS);
}
