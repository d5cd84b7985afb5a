import { PlatformError } from './errors.js';

/** The error for an aborted signal: the PlatformError that it was aborted with, else `cancelled`. */
export function cancellationOf(signal: AbortSignal): PlatformError {
  const reason: unknown = signal.reason;
  return reason instanceof PlatformError ? reason : new PlatformError('cancelled', 'cancelled', { cause: reason });
}

export function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw cancellationOf(signal);
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
