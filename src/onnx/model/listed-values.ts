import type { InputValues } from './model.js';

/** The values of an input from a list of at least one number. */
export function listedValues(list: readonly number[]): InputValues {
  const low = list.reduce((least, value) => Math.min(least, value), Infinity);
  const high = list.reduce((most, value) => Math.max(most, value), -Infinity);
  return low === high ? { low, high } : { low, high, list };
}
