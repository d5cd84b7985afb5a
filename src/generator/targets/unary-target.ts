import { messageOf, PlatformError } from '../../base/errors.js';
import type { Target } from '../../load/trial.js';
import { nowMs, type ServingEnd } from '../../agent/client/serving-client.js';

export const QUERY_LIMIT_MS = 120_000;

export const UNKNOWN_END: ServingEnd = { conditions: null };

/** The server says neither when the model's run began nor what else was in it. */
export function unaryTarget(query: (samples: number) => Promise<unknown>): Target {
  return {
    send(samples, answered) {
      const answer = (error?: unknown): void => {
        const isLast = error instanceof PlatformError && ['unavailable', 'unauthenticated'].includes(error.code);
        const failed = error === undefined ? {} : { error: messageOf(error), isLast };
        answered({ startedMs: null, finishedMs: nowMs(), batch: null, ...failed });
      };
      query(samples).then(() => answer(), answer);
    },
  };
}
