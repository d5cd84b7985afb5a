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

/** Parses a duration as an option's value, into milliseconds. */
export function durationOption(text: string): number {
  const ms = durationMsOf(text);
  if (ms !== undefined) return ms;
  throw new InvalidArgumentError(`expected a duration: ${DURATION_EXAMPLES}`);
}
