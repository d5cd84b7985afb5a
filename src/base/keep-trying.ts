import { cancellationOf, throwIfCancelled } from './cancellation.js';
import { type Clock, monotonicClock } from './clock.js';

export interface PassingFailure {
  readonly thrown: unknown;
  readonly isFirst: boolean;
  readonly pauseMs: number;
}

export interface KeepTryingOptions {
  /** The pause after the first failure; each further failure doubles it. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  readonly isPassing: (thrown: unknown) => boolean;
  /** A failure this long after the first one is final. */
  readonly limitMs?: number | undefined;
  readonly onFailure?: ((failure: PassingFailure) => void) | undefined;
  /** Ends the pauses. A running attempt has to end by itself. */
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock | undefined;
}

/**
 * @param attempt calls `answers` when it gets an answer and goes on: earlier failures then no longer count
 * @throws a failure that is final or comes after the limit; the error of {@link cancellationOf} when the signal aborts
 */
export async function keepTrying<T>(
  attempt: (answers: () => void) => Promise<T>,
  options: KeepTryingOptions,
): Promise<T> {
  const { firstPauseMs, longestPauseMs, isPassing, limitMs = Infinity, onFailure, signal } = options;
  const { clock = monotonicClock } = options;
  let failing: { readonly sinceMs: number; readonly pauseMs: number } | undefined;
  for (;;) {
    throwIfCancelled(signal);
    try {
      return await attempt(() => (failing = undefined));
    } catch (thrown) {
      if (!isPassing(thrown)) throw thrown;
      if (signal?.aborted === true) throw cancellationOf(signal);
      const sinceMs = failing?.sinceMs ?? clock.now();
      if (clock.now() - sinceMs >= limitMs) throw thrown;
      const pauseMs = failing === undefined ? firstPauseMs : Math.min(2 * failing.pauseMs, longestPauseMs);
      onFailure?.({ thrown, isFirst: failing === undefined, pauseMs });
      failing = { sinceMs, pauseMs };
      await clock.sleep(pauseMs, signal);
    }
  }
}

export async function keepGoing(
  attempt: (answers: () => void) => Promise<void>,
  options: KeepTryingOptions & { readonly signal: AbortSignal },
): Promise<void> {
  try {
    await keepTrying(attempt, options);
  } catch (thrown) {
    if (!options.signal.aborted) throw thrown;
  }
}
