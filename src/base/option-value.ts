import { InvalidArgumentError } from 'commander';
import type { z } from 'zod';
import { numberIn, wholeNumber } from './bounded-number.js';
import { DURATION_EXAMPLES, parseDurationMs } from './duration.js';

export function numberOption(schema: z.ZodType<number | undefined>): (text: string) => number {
  return (text) => {
    const value = numberIn(text);
    const { success, error } = schema.safeParse(value);
    if (success) return value;
    throw new InvalidArgumentError(`expected ${error.issues[0]?.message}`);
  };
}

/** As in 5 or 5%. */
export function percentOption(schema: z.ZodType<number | undefined>): (text: string) => number {
  const parse = numberOption(schema);
  return (text) => parse(text.replace(/%$/, ''));
}

export function wholeNumberOption(least: number, most: number): (text: string) => number {
  return numberOption(wholeNumber(least, most));
}

/** Each value adds a row per model to a table. */
const MAX_VALUES = 1000;

export function listOption<T>(parse: (text: string) => T): (text: string) => readonly T[] {
  return (text) => {
    const values = new Set(text.split(',').map((part) => parse(part.trim())));
    if (values.size <= MAX_VALUES) return [...values];
    throw new InvalidArgumentError(`expected at most ${MAX_VALUES} values, found ${values.size}`);
  };
}

export function durationOption(text: string): number {
  const ms = parseDurationMs(text);
  if (ms !== undefined) return ms;
  throw new InvalidArgumentError(`expected a duration: ${DURATION_EXAMPLES}`);
}
