import { isDisturbed, isUnderLoad } from './disturbance.js';
import type { Measurement } from './measurement.js';

/** Which measurements that the store has are taken again. */
export type Remeasure =
  | { readonly kind: 'none' }
  /** Those that other processes disturbed, as long as nothing disturbs the new ones. */
  | { readonly kind: 'while-quiet' }
  | { readonly kind: 'disturbed' }
  | { readonly kind: 'failed' }
  | { readonly kind: 'all' }
  /** In milliseconds since 1970. */
  | { readonly kind: 'older-than'; readonly timeMs: number };

export const DEFAULT_REMEASURE: Remeasure = { kind: 'while-quiet' };

/** Whether a stored measurement is taken again whatever the machine is like. */
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

/** Whether a stored measurement is taken again if the machine is quiet. A core that others share may be so for good. */
export function isTakenAgainWhileQuiet(measurement: Measurement, remeasure: Remeasure): boolean {
  return remeasure.kind === 'while-quiet' && isUnderLoad(measurement);
}
