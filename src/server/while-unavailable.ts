import { PlatformError } from '../base/errors.js';
import { keepTrying } from '../base/keep-trying.js';
import { LostEvaluation } from './event-log.js';

/** Pauses between two attempts to store something about an evaluation that has begun. */
export const STORE_RETRY = { firstPauseMs: 500, longestPauseMs: 30_000 };

/** Repeats the work on the store while the store's server is gone. @throws the store's other errors; `cancelled` */
export function whileUnavailable<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const isPassing = (thrown: unknown): boolean =>
    thrown instanceof PlatformError && thrown.code === 'unavailable' && !(thrown instanceof LostEvaluation);
  return keepTrying(work, { ...STORE_RETRY, isPassing, signal });
}
