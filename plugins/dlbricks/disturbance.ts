import { setTimeout as after } from 'node:timers/promises';
import type { Measurement } from '../../src/plugin-api.js';

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
const WAITS_MS = [500, 2000, 5000] as const;

export interface Retaking {
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
  { wait = (ms) => after(ms, undefined, { signal }).catch(() => undefined), onRetake }: Retaking,
): Promise<Measurement> {
  let best = await take();
  for (const waitMs of WAITS_MS) {
    if (!isDisturbed(best) || signal.aborted) break;
    onRetake(disturbanceOf(best));
    await wait(waitMs);
    if (signal.aborted) break;
    try {
      const next = await take();
      if (disturbanceOf(next) < disturbanceOf(best)) best = next;
    } catch (error) {
      // What there is already is better than nothing.
      if (signal.aborted) break;
      throw error;
    }
  }
  return best;
}
