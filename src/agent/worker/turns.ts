import { PlatformError } from '../../base/errors.js';
import { cancellationOf, throwIfCancelled } from '../../base/cancellation.js';

/** Most requests that wait. Each holds its benchmark's bytes meanwhile, up to 64 MiB. */
const MAX_WAITING = 32;

export interface TurnOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onWaiting?: ((holder?: number) => void) | undefined;
  /** Whether the task may run beside other tasks with this option. */
  readonly beside?: boolean | undefined;
}

interface Waiting {
  readonly beside: boolean;
  readonly start: () => void;
}

/**
 * Lets tasks run one at a time, first come, first served, because other work disturbs a measurement. Tasks that time
 * nothing may run beside each other.
 */
export class Turns {
  readonly #waiting: Waiting[] = [];
  #running = 0;
  #isAlone = false;
  #sharedMs = 0;
  #sharedUntilMs = 0;

  constructor(private readonly mostBeside: number) {}

  /**
   * A clock that divides wall time equally among the tasks that run now. The times of several tasks by this clock add
   * up to the wall time of all. Milliseconds.
   */
  get sharedMs(): number {
    const nowMs = performance.now();
    this.#sharedMs += (nowMs - this.#sharedUntilMs) / Math.max(1, this.#running);
    this.#sharedUntilMs = nowMs;
    return this.#sharedMs;
  }

  /**
   * @throws PlatformError `cancelled` where the signal aborts before this task's turn, `exhausted` where too many wait
   */
  async take<T>(task: () => Promise<T>, { signal, onWaiting, beside = false }: TurnOptions = {}): Promise<T> {
    throwIfCancelled(signal);
    if (this.#waiting.length > 0 || !this.#mayStart(beside)) {
      if (this.#waiting.length >= MAX_WAITING) {
        throw new PlatformError('exhausted', `${MAX_WAITING} requests wait for this agent already; try again later`);
      }
      onWaiting?.();
      await this.#comeUp(beside, signal);
    } else this.#start(beside);
    try {
      return await task();
    } finally {
      this.#end();
    }
  }

  #mayStart(beside: boolean): boolean {
    return this.#running === 0 || (beside && !this.#isAlone && this.#running < this.mostBeside);
  }

  #start(beside: boolean): void {
    this.#changeRunning(1);
    this.#isAlone = !beside;
  }

  #end(): void {
    this.#changeRunning(-1);
    this.#startWaiting();
  }

  #changeRunning(by: 1 | -1): void {
    // Brings the clock up to now, with the tasks that ran until now.
    void this.sharedMs;
    this.#running += by;
  }

  #startWaiting(): void {
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined || !this.#mayStart(next.beside)) return;
      this.#waiting.shift();
      // Started at once, so that no other request gets the turn before the promise's continuation runs.
      this.#start(next.beside);
      next.start();
    }
  }

  #comeUp(beside: boolean, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        beside,
        start: () => {
          signal?.removeEventListener('abort', leave);
          resolve();
        },
      };
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        // The tasks behind it may start where this one had to wait.
        this.#startWaiting();
        if (signal !== undefined) reject(cancellationOf(signal));
      };
      this.#waiting.push(waiting);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }
}
