import { setTimeout as after } from 'node:timers/promises';
import type { Measurement } from '../../../src/plugin-api.js';

/** Above this share of the processors' time, what others did may have made a measurement longer. */
const MOST_OTHERS_SHARE = 0.1;

/** The operating system counts in ticks of 10 ms, so that less than three may be none. */
const LEAST_OTHERS_MS = 30;

/**
 * Share of the processors' time that went to other processes and other machines while a measurement was taken; 0 where it is
 * not known, or too little to be sure of.
 */
export function disturbanceOf({ conditions }: Measurement): number {
  if (conditions === undefined) return 0;
  const { wallMs, cores, othersMs = 0, stealMs = 0 } = conditions;
  const elsewhereMs = othersMs + stealMs;
  return elsewhereMs < LEAST_OTHERS_MS || wallMs === 0 ? 0 : elsewhereMs / (wallMs * cores);
}

export function isDisturbed(measurement: Measurement): boolean {
  return disturbanceOf(measurement) > MOST_OTHERS_SHARE;
}

/** How long to wait before each further try: whoever compiles something is done after a while. */
const WAITS_MS = [500, 2000, 4000] as const;

/** After so many measurements that stayed disturbed, the machine is one that never rests, and waiting for it is in vain. */
const MOST_IN_VAIN = 2;

/** How long it makes sense to wait for a machine to rest; one for a series of measurements. */
export class Patience {
  private inVain = 0;

  get isLost(): boolean {
    return this.inVain >= MOST_IN_VAIN;
  }

  /** A measurement stayed disturbed, whatever was tried. */
  lose(): void {
    this.inVain++;
  }
}

export interface Retaking {
  readonly patience: Patience;
  /** Waits unless somebody aborts; a test's need not. */
  readonly wait?: (ms: number) => Promise<void>;
  readonly onRetake: (disturbance: number) => void;
}

/**
 * Takes a measurement again while others disturb it, and returns the least disturbed one. What is chosen by is what others did
 * and never the latency, so that no latency is preferred.
 */
export async function undisturbed(
  take: () => Promise<Measurement>,
  signal: AbortSignal,
  { patience, wait = (ms) => after(ms, undefined, { signal }).catch(() => undefined), onRetake }: Retaking,
): Promise<Measurement> {
  let best = await take();
  for (const waitMs of WAITS_MS) {
    if (!isDisturbed(best) || signal.aborted || patience.isLost) return best;
    onRetake(disturbanceOf(best));
    await wait(waitMs);
    if (signal.aborted) return best;
    try {
      const next = await take();
      if (disturbanceOf(next) < disturbanceOf(best)) best = next;
    } catch (error) {
      // What there is already is better than nothing.
      if (signal.aborted) return best;
      throw error;
    }
  }
  if (isDisturbed(best)) patience.lose();
  return best;
}
