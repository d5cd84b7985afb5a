import { setTimeout } from 'node:timers/promises';

/** A clock for waiting. Tests inject one that they advance themselves. */
export interface Clock {
  /** Milliseconds since some moment in the past; never steps when the wall clock is set. */
  readonly now: () => number;
  /** Resolves after the time has passed, or as soon as the signal aborts. Never rejects. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export const monotonicClock: Clock = {
  now: () => performance.now(),
  sleep: (ms, signal) => setTimeout(ms, undefined, { signal }).catch(() => undefined),
};
