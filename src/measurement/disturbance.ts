import type { Measurement } from './measurement.js';

/** Above this share of the processors' time, other processes may have made a measurement longer. */
const MOST_OTHERS_SHARE = 0.1;

/** The operating system counts in ticks of 10 ms, so that fewer than three may be an error of counting. */
const LEAST_OTHERS_MS = 30;

/**
 * Share of the processors' time that went to other processes and other machines while a measurement was taken; 0 where it is
 * not known, or too little to be sure of.
 */
export function disturbanceOf({ conditions }: Pick<Measurement, 'conditions'>): number {
  if (conditions === undefined) return 0;
  const { wallMs, cores, othersMs = 0, stealMs = 0 } = conditions;
  const elsewhereMs = othersMs + stealMs;
  return elsewhereMs < LEAST_OTHERS_MS || wallMs === 0 ? 0 : elsewhereMs / (wallMs * cores);
}

/** Whether other processes may have made a latency longer. A failure is not disturbed: a quiet machine gives the same. */
export function isDisturbed(measurement: Pick<Measurement, 'conditions' | 'outcome'>): boolean {
  return measurement.outcome.kind === 'samples' && disturbanceOf(measurement) > MOST_OTHERS_SHARE;
}
