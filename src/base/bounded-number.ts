import { z } from 'zod';

// The message of an error says what was expected.
/** Both bounds are included. */
export function wholeNumber(least: number, most: number) {
  const error = `a whole number from ${least} to ${most}`;
  return z.int({ error }).min(least, { error }).max(most, { error });
}

export function positiveNumber(most = Infinity) {
  const error = most === Infinity ? 'a number above 0' : `a number above 0, at most ${most}`;
  const positive = z.number({ error }).positive({ error });
  return most === Infinity ? positive : positive.max(most, { error });
}

export function numberFrom(least: number, most: number) {
  const error = `a number from ${least} to ${most}`;
  return z.number({ error }).min(least, { error }).max(most, { error });
}

/** A number as users write it, 12 or 0.5; NaN for any other text. */
export function numberIn(text: string): number {
  return /^\d*\.?\d+$/.test(text) ? Number(text) : NaN;
}
