import { messageOf, PlatformError } from '../../base/errors.js';
import type { Target } from '../../load/trial.js';
import { nowMs, type ServingEnd } from '../../agent/client/serving-client.js';

export const QUERY_LIMIT_MS = 120_000;

export const UNKNOWN_END: ServingEnd = { conditions: null };

/** A server that starts again answers before. */
const RESTART_LIMIT_MS = 60_000;

/** The server says neither when the model's run began nor what else was in it. */
export function unaryTarget(query: (samples: number) => Promise<unknown>, now: () => number = nowMs): Target {
  let goneSinceMs: number | undefined;
  /** Whether no further query can be answered. */
  const isLastFailure = (error: unknown): boolean => {
    const code = error instanceof PlatformError ? error.code : undefined;
    goneSinceMs = code === 'unavailable' ? (goneSinceMs ?? now()) : undefined;
    return code === 'unauthenticated' || (goneSinceMs !== undefined && now() - goneSinceMs > RESTART_LIMIT_MS);
  };
  return {
    send(samples, answered) {
      const answer = (error?: unknown): void => {
        const isLast = isLastFailure(error);
        const failed = error === undefined ? {} : { error: messageOf(error), isLast };
        answered({ startedMs: null, finishedMs: now(), batch: null, ...failed });
      };
      query(samples).then(() => answer(), answer);
    },
  };
}
