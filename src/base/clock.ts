import { setTimeout } from 'node:timers/promises';

export interface Clock {
  /** Milliseconds since some moment in the past; never steps when the wall clock is set. */
  readonly now: () => number;
  /** Resolves after the time has passed, or as soon as the signal aborts. Never rejects. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** Time between two looks at the clock, and the most time that counts between two. */
const LOOK_MS = 1000;
const MAX_BETWEEN_LOOKS_MS = 2000;

let attended: { ms: number; atMs: number } | undefined;

/**
 * Milliseconds since some moment in the past, while this process is able to work: it stands still while the process is
 * suspended or busy for long. For the patience with others, whose messages may wait here meanwhile.
 */
export function attendedMs(): number {
  if (attended === undefined) {
    const looks = { ms: 0, atMs: performance.now() };
    attended = looks;
    setInterval(() => {
      looks.ms = attendedMs();
      looks.atMs = performance.now();
    }, LOOK_MS).unref();
  }
  return attended.ms + Math.min(performance.now() - attended.atMs, MAX_BETWEEN_LOOKS_MS);
}

export const monotonicClock: Clock = {
  now: () => performance.now(),
  sleep: (ms, signal) => setTimeout(ms, undefined, { signal }).catch(() => undefined),
};
