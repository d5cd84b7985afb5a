import { InvalidArgumentError } from 'commander';

/** Parses a whole number within bounds, both included, as an option's value. */
export function wholeNumberOption(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`expected a whole number from ${least} to ${most}`);
  };
}
