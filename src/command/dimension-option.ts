import { InvalidArgumentError } from 'commander';
import { listOption, numberOption } from '../base/option-value.js';
import { dimensionSizeField } from '../manifest/fields.js';

const sizeOption = numberOption(dimensionSizeField);

function collected<T>(parse: (text: string) => T) {
  return (text: string, bound: ReadonlyMap<string, T> = new Map()): ReadonlyMap<string, T> => {
    const [, name, value] = /^([^=]+)=(\S+)$/.exec(text) ?? [];
    if (name === undefined || value === undefined) {
      throw new InvalidArgumentError('expected NAME=VALUE, for example sequence=128');
    }
    if (name === 'batch') throw new InvalidArgumentError('the size of the batch is given with --batch');
    return new Map([...bound, [name, parse(value)]]);
  };
}

/** Parses NAME=VALUE, the size of a symbolic dimension, collected over several uses of the option. */
export const dimensionOption = collected(sizeOption);

/** The same for commands that run once for each of several sizes, NAME=VALUE,VALUE. */
export const dimensionsOption = collected(listOption(sizeOption));
