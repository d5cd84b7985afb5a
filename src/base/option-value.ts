import { InvalidArgumentError } from 'commander';
import { DURATION_EXAMPLES, durationMsOf } from './duration.js';

/** Parses a whole number within bounds, both included, as an option's value. */
export function wholeNumberOption(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`expected a whole number from ${least} to ${most}`);
  };
}

/** Each value of a list is a table's row for every model. */
const MOST_VALUES = 100;

/** Parses values with commas between them as an option's value; each counts once. */
export function listOption<T>(parse: (text: string) => T): (text: string) => readonly T[] {
  return (text) => {
    const values = new Set(text.split(',').map((part) => parse(part.trim())));
    if (values.size <= MOST_VALUES) return [...values];
    throw new InvalidArgumentError(`expected at most ${MOST_VALUES} numbers, found ${values.size}`);
  };
}

/** Parses whole numbers with commas between them, each within bounds, as an option's value; each counts once. */
export function wholeNumbersOption(least: number, most: number): (text: string) => readonly number[] {
  return listOption(wholeNumberOption(least, most));
}

/** Parses a duration as an option's value, into milliseconds. */
export function durationOption(text: string): number {
  const ms = durationMsOf(text);
  if (ms !== undefined) return ms;
  throw new InvalidArgumentError(`expected a duration: ${DURATION_EXAMPLES}`);
}

/** Parses NAME=VALUE, the size of a symbolic dimension, collected over several uses of the option. */
export function dimensionOption(
  text: string,
  bound: ReadonlyMap<string, number> = new Map(),
): ReadonlyMap<string, number> {
  const match = /^(?<name>[^=]+)=(?<value>\d{1,9})$/.exec(text);
  const value = Number(match?.groups?.['value']);
  if (match?.groups?.['name'] === undefined) {
    throw new InvalidArgumentError('expected NAME=VALUE, for example sequence=128');
  }
  if (match.groups['name'] === 'batch') throw new InvalidArgumentError('the size of the batch is given with --batch');
  return new Map([...bound, [match.groups['name'], value]]);
}
