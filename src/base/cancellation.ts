import { PlatformError } from './errors.js';

/** The error for an aborted signal: the PlatformError that it was aborted with, else `cancelled`. */
export function cancellationOf(signal: AbortSignal): PlatformError {
  const reason: unknown = signal.reason;
  return reason instanceof PlatformError ? reason : new PlatformError('cancelled', 'cancelled', { cause: reason });
}

export function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw cancellationOf(signal);
}

/** Resolves when `start` calls back, or when the signal aborts. */
export function untilDone(signal: AbortSignal, start: (done: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      signal.removeEventListener('abort', done);
      resolve();
    };
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', done, { once: true });
    start(done);
  });
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  return untilDone(signal, () => undefined);
}
