import { z } from 'zod';
import { DURATION_EXAMPLES, parseDurationMs } from '../base/duration.js';
import { isDisturbed, isUnderLoad } from './disturbance.js';
import type { Measurement } from './measurement.js';

export type Remeasure =
  /** None; not even new ones that other processes disturbed. */
  | { readonly kind: 'none' }
  /** Those that other processes disturbed, as long as no other process disturbs the new measurements. */
  | { readonly kind: 'while-quiet' }
  | { readonly kind: 'disturbed' }
  | { readonly kind: 'failed' }
  | { readonly kind: 'all' }
  /** In milliseconds since 1970. */
  | { readonly kind: 'older-than'; readonly timeMs: number };

export const DEFAULT_REMEASURE: Remeasure = { kind: 'while-quiet' };

const KINDS = ['all', 'disturbed', 'failed', 'none'] as const;

const OLDER_THAN = 'older-than:';

export const REMEASURE_WORDS = `${KINDS.join(', ')} or ${OLDER_THAN}DURATION, a duration being ${DURATION_EXAMPLES}`;

/** @returns undefined for other texts; ages count from now */
export function parseRemeasure(text: string): Remeasure | undefined {
  const kind = KINDS.find((candidate) => candidate === text);
  if (kind !== undefined) return { kind };
  const ageMs = text.startsWith(OLDER_THAN) ? parseDurationMs(text.slice(OLDER_THAN.length)) : undefined;
  return ageMs === undefined ? undefined : { kind: 'older-than', timeMs: new Date().getTime() - ageMs };
}

export const remeasureSetting = z
  .string()
  .refine((text) => parseRemeasure(text) !== undefined, { error: REMEASURE_WORDS })
  .optional()
  .describe(`Stored measurements to take again: ${REMEASURE_WORDS}.`);

export function remeasureAsked(text: string | undefined): Remeasure {
  return (text === undefined ? undefined : parseRemeasure(text)) ?? DEFAULT_REMEASURE;
}

export function isTakenAgain(measurement: Measurement, remeasure: Remeasure): boolean {
  switch (remeasure.kind) {
    case 'none':
    case 'while-quiet':
      return false;
    case 'disturbed':
      return isDisturbed(measurement);
    case 'failed':
      return measurement.outcome.kind === 'failure';
    case 'all':
      return true;
    case 'older-than':
      return Date.parse(measurement.measuredAt) < remeasure.timeMs;
  }
}

export function isNewTakenAgain({ kind }: Remeasure): boolean {
  return kind !== 'none';
}

/** If the machine is quiet. A shared core is no reason, since it may stay shared. */
export function isTakenAgainWhileQuiet(measurement: Measurement, remeasure: Remeasure): boolean {
  return remeasure.kind === 'while-quiet' && isUnderLoad(measurement);
}
