import { PlatformError } from '../../base/errors.js';
import { FairSemaphore } from '../../base/fair-semaphore.js';

/** Most requests that wait. Each holds its benchmark's bytes meanwhile, up to 64 MiB. */
const MAX_WAITING = 32;

export interface TaskOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called if the task has to wait; with the id of the process that it waits for, if another agent holds the turn. */
  readonly onWaiting?: ((holder?: number) => void) | undefined;
  /** Whether the task may run beside other tasks with this option. */
  readonly untimed?: boolean | undefined;
}

/**
 * Lets tasks run one at a time, first come, first served, because other work disturbs a measurement. Tasks that time
 * nothing may run beside each other.
 */
export class TaskLimiter {
  readonly #semaphore: FairSemaphore;
  #running = 0;
  #sharedMs = 0;
  #sharedUntilMs = 0;

  /** @param maxUntimed how many tasks run beside each other at most */
  constructor(private readonly maxUntimed: number) {
    this.#semaphore = new FairSemaphore(maxUntimed);
  }

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
  async run<T>(task: () => Promise<T>, { signal, onWaiting, untimed = false }: TaskOptions = {}): Promise<T> {
    if (this.#semaphore.waiting >= MAX_WAITING) {
      throw new PlatformError('exhausted', `${MAX_WAITING} requests wait for this agent already; try again later`);
    }
    const size = untimed ? 1 : this.maxUntimed;
    const leave = await this.#semaphore.take({ signal, size, onWaiting: () => onWaiting?.() });
    this.#changeRunning(1);
    try {
      return await task();
    } finally {
      this.#changeRunning(-1);
      leave();
    }
  }

  #changeRunning(by: 1 | -1): void {
    // Brings the clock up to now, with the tasks that ran until now.
    void this.sharedMs;
    this.#running += by;
  }
}
