import { type ErrorCode, messageOf, PlatformError } from '../base/errors.js';
import { keepGoing } from '../base/keep-trying.js';

/** After a failure; a server that is restarted is back within seconds. */
const RETRY_MS = 1000;

/** They would be repeated. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set(['usage', 'unauthenticated', 'forbidden', 'unsupported']);

export interface StayConnectedOptions {
  readonly signal: AbortSignal;
  /** Called once when the server stops answering. */
  readonly onLost?: ((problem: string) => void) | undefined;
}

/**
 * Stays connected through restarts of the server, until the signal aborts.
 *
 * @param attempt calls `answers` when the server answers; ends when the signal aborts, or fails
 * @throws PlatformError if the server refuses
 */
export async function stayConnected(
  attempt: (answers: () => void) => Promise<void>,
  { signal, onLost }: StayConnectedOptions,
): Promise<void> {
  await keepGoing(attempt, {
    firstPauseMs: RETRY_MS,
    longestPauseMs: RETRY_MS,
    isPassing: (thrown) => !(thrown instanceof PlatformError && REFUSALS.has(thrown.code)),
    onFailure: ({ thrown, isFirst }) => {
      if (isFirst) onLost?.(messageOf(thrown));
    },
    signal,
  });
}
