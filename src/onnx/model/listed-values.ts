import type { InputValues } from './model.js';

export function listedValues(list: readonly number[]): InputValues {
  const low = list.reduce((least, value) => Math.min(least, value), Infinity);
  const high = list.reduce((most, value) => Math.max(most, value), -Infinity);
  return low === high ? { low, high } : { low, high, list };
}
