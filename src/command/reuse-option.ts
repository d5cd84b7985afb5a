import { type Command, InvalidArgumentError, Option } from 'commander';
import { PlatformError } from '../base/errors.js';
import { REMEASURE_WORDS, parseRemeasure } from '../measurement/remeasure.js';

export interface ReuseOptions {
  readonly remeasure?: string;
}

function remeasureOption(text: string): string {
  if (parseRemeasure(text) === undefined) throw new InvalidArgumentError(`expected ${REMEASURE_WORDS}`);
  return text;
}

export function addReuseOptions(command: Command): Command {
  return command
    .option(
      '--remeasure <which>',
      'stored measurements to take again: all, disturbed (by other processes), failed, older-than:7d, none (default: disturbed ones, while the machine is quiet)',
      remeasureOption,
    )
    .addOption(
      new Option('--fresh', 'measure everything anew: the same as --remeasure all').implies({ remeasure: 'all' }),
    )
    .hook('preAction', (_this, called) => {
      if (called.opts()['fresh'] !== true || called.getOptionValueSource('remeasure') === 'implied') return;
      throw new PlatformError('usage', '--fresh is the same as --remeasure all; leave one of the two out');
    });
}
