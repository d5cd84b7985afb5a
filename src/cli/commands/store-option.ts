import { storeDescription } from '../../command/store-description.js';
import { type Command, InvalidArgumentError } from 'commander';
import { durationOption } from '../../base/option-value.js';
import type { MeasurementFilter } from '../../store/measurement-filter.js';

export interface StoreOption {
  readonly store?: string;
}

export const STORE = ['--store <uri>', storeDescription('results')] as const;

export interface SelectionFlags {
  readonly system?: string;
  readonly failed?: true;
  readonly disturbed?: true;
  readonly olderThan?: number;
}

export function idPrefix(text: string): string {
  if (/^[0-9a-f]{4,64}$/i.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError('expected the first digits of an id: 4 to 64 characters, each 0 to 9 or a to f');
}

export function addSelectionOptions(command: Command): Command {
  return command
    .option('--system <id>', "only of this system; its fingerprint's first digits", idPrefix)
    .option('--failed', 'only failed measurements')
    .option('--disturbed', 'only measurements that other processes or machines disturbed')
    .option('--older-than <duration>', 'only older measurements: 12h, 7d, 4w', durationOption);
}

export function parseFilter({ system, failed, disturbed, olderThan }: SelectionFlags): MeasurementFilter {
  return {
    system,
    failed,
    disturbed,
    beforeMs: olderThan === undefined ? undefined : new Date().getTime() - olderThan,
  };
}

/** Whether any option is given, so that not all measurements are selected. */
export function isNarrowed({ system, failed, disturbed, olderThan }: SelectionFlags): boolean {
  return [system, failed, disturbed, olderThan].some((condition) => condition !== undefined);
}
