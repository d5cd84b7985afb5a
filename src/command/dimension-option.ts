import { InvalidArgumentError } from 'commander';
import { numberOption } from '../base/option-value.js';
import { dimensionSizeField } from '../manifest/fields.js';

const sizeOption = numberOption(dimensionSizeField);

/** Parses NAME=VALUE, the size of a symbolic dimension, collected over several uses of the option. */
export function dimensionOption(
  text: string,
  bound: ReadonlyMap<string, number> = new Map(),
): ReadonlyMap<string, number> {
  const [, name, value] = /^([^=]+)=(\S+)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) {
    throw new InvalidArgumentError('expected NAME=VALUE, for example sequence=128');
  }
  if (name === 'batch') throw new InvalidArgumentError('the size of the batch is given with --batch');
  return new Map([...bound, [name, sizeOption(value)]]);
}
