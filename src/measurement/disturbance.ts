import type { Conditions } from './conditions.js';
import type { Measurement } from './measurement.js';

/** Above this share of the processors' time, or of the samples, others may have made a measurement longer. */
const MOST_OTHERS_SHARE = 0.1;

/** The operating system counts in ticks of 10 ms, so that fewer than three may be an error of counting. */
const LEAST_OTHERS_MS = 30;

/** Share of the processors' time that others took; 0 where it is not known, or too little to be sure of. */
function othersShare({ wallMs, cores, othersMs = 0, stealMs = 0 }: Conditions): number {
  const elsewhereMs = othersMs + stealMs;
  return elsewhereMs < LEAST_OTHERS_MS || wallMs === 0 ? 0 : elsewhereMs / (wallMs * cores);
}

/**
 * How much others disturbed a measurement: the share of the processors' time that went to other processes and other machines,
 * or the share of the samples during which another machine shared the core, whichever is larger; 0 where neither is known.
 */
export function disturbanceOf({ conditions }: Pick<Measurement, 'conditions'>): number {
  return conditions === undefined ? 0 : Math.max(othersShare(conditions), conditions.sharedShare ?? 0);
}

/** Whether another machine shared the core during too many of the samples. */
export function isCoreShared({ conditions, outcome }: Pick<Measurement, 'conditions' | 'outcome'>): boolean {
  return outcome.kind === 'samples' && (conditions?.sharedShare ?? 0) > MOST_OTHERS_SHARE;
}

/** Whether others may have made a latency longer. A failure is not disturbed: a quiet machine gives the same. */
export function isDisturbed(measurement: Pick<Measurement, 'conditions' | 'outcome'>): boolean {
  return measurement.outcome.kind === 'samples' && disturbanceOf(measurement) > MOST_OTHERS_SHARE;
}
