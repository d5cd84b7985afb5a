import { UNKNOWN } from '../base/format-ms.js';
import type { Measurement } from './measurement.js';

/** Above this share of the processors' time, or of the samples, others may have made a measurement longer. */
const MAX_OTHERS_SHARE = 0.1;

/** The operating system counts in ticks of 10 ms, so fewer than three may be a counting error. */
export const MIN_OTHERS_MS = 30;

/** Of the processors' time, by other processes and machines; 0 where it is not known or too small to be reliable. */
export function computeOtherLoad({ conditions }: Pick<Measurement, 'conditions'>): number {
  if (conditions === undefined) return 0;
  const { wallMs, cores, othersMs = 0, stealMs = 0 } = conditions;
  const elsewhereMs = othersMs + stealMs;
  return elsewhereMs < MIN_OTHERS_MS || wallMs === 0 ? 0 : elsewhereMs / (wallMs * cores);
}

/** Share of the samples during which another machine shared a core; 0 where it is not known. */
export function sharedShareOf({ conditions }: Pick<Measurement, 'conditions'>): number {
  return conditions?.sharedShare ?? 0;
}

/** The larger of the load by other processes and the shared core; 0 to 1; 0 where it is not known. */
export function computeDisturbance(measurement: Pick<Measurement, 'conditions'>): number {
  return Math.max(computeOtherLoad(measurement), sharedShareOf(measurement));
}

/** To be shown: undefined where the measuring system does not tell, as on other systems than Linux; 0 to 1. */
export function disturbanceOf(measurement: Pick<Measurement, 'conditions'>): number | undefined {
  return measurement.conditions === undefined ? undefined : computeDisturbance(measurement);
}

export function disturbanceText(measurement: Pick<Measurement, 'conditions'>): string {
  const share = disturbanceOf(measurement);
  return share === undefined ? UNKNOWN : `${(share * 100).toFixed(0)} %`;
}

type Judged = Pick<Measurement, 'conditions'> & { readonly outcome: Pick<Measurement['outcome'], 'kind'> };

// A failure is never disturbed: it also happens on a quiet machine.
function isMoreThan(limit: number, share: (measurement: Judged) => number): (measurement: Judged) => boolean {
  return (measurement) => measurement.outcome.kind === 'samples' && share(measurement) > limit;
}

export const isUnderLoad = isMoreThan(MAX_OTHERS_SHARE, computeOtherLoad);

export const isCoreShared = isMoreThan(MAX_OTHERS_SHARE, sharedShareOf);

export const isDisturbed = isMoreThan(MAX_OTHERS_SHARE, computeDisturbance);
