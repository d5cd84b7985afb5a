import { PlatformError } from '../../base/errors.js';
import { cancellationOf, throwIfCancelled } from '../../base/cancellation.js';

/** Requests hold their benchmark's bytes while they wait, up to 64 MiB each. */
const MAX_WAITING = 32;

export interface TurnOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called once where the task has to wait. */
  readonly onWaiting?: (() => void) | undefined;
}

/** Lets one task run at a time, first come, first served: other work disturbs a measurement. */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #taken = false;

  /**
   * @throws PlatformError `cancelled` where the signal aborts before this task's turn, `exhausted` where too many wait
   */
  async take<T>(task: () => Promise<T>, { signal, onWaiting }: TurnOptions = {}): Promise<T> {
    throwIfCancelled(signal);
    if (this.#taken) {
      if (this.#waiting.length >= MAX_WAITING) {
        throw new PlatformError('exhausted', `${MAX_WAITING} requests wait for this agent already; try again later`);
      }
      onWaiting?.();
      await this.#comeUp(signal);
    }
    this.#taken = true;
    try {
      return await task();
    } finally {
      this.#taken = false;
      this.#waiting.shift()?.();
    }
  }

  #comeUp(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(comeUp), 1);
        if (signal !== undefined) reject(cancellationOf(signal));
      };
      const comeUp = (): void => {
        signal?.removeEventListener('abort', leave);
        // Taken at once, so that no other request gets the turn before the promise's continuation runs.
        this.#taken = true;
        resolve();
      };
      this.#waiting.push(comeUp);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }
}
