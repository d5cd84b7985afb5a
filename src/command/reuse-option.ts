import { type Command, InvalidArgumentError } from 'commander';
import { DURATION_EXAMPLES, durationMsOf } from '../base/duration.js';
import type { Remeasure } from '../measurement/remeasure.js';

/** What happens to measurements that the store has. */
export interface ReuseOptions {
  readonly remeasure?: Remeasure;
}

const REMEASURE_KINDS = ['all', 'disturbed', 'failed', 'none'] as const;

const OLDER_THAN = 'older-than:';

function remeasureOption(text: string): Remeasure {
  const kind = REMEASURE_KINDS.find((candidate) => candidate === text);
  if (kind !== undefined) return { kind };
  const ageMs = text.startsWith(OLDER_THAN) ? durationMsOf(text.slice(OLDER_THAN.length)) : undefined;
  if (ageMs !== undefined) return { kind: 'older-than', timeMs: new Date().getTime() - ageMs };
  const expected = `${REMEASURE_KINDS.join(', ')} or ${OLDER_THAN}DURATION`;
  throw new InvalidArgumentError(`expected ${expected}, a duration being ${DURATION_EXAMPLES}`);
}

/** For the commands that measure. */
export function addReuseOptions(command: Command): Command {
  return command.option(
    '--remeasure <which>',
    'stored measurements to take again: all, disturbed (by other processes), failed, older-than:7d, none (default: disturbed ones, while the machine is quiet)',
    remeasureOption,
  );
}
