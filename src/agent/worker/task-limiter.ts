import { PlatformError } from '../../base/errors.js';
import { FairSemaphore } from '../../base/fair-semaphore.js';
import { SharedClock } from '../../base/shared-clock.js';

/** Most requests that wait. Each holds its benchmark's bytes meanwhile, up to 64 MiB. */
const MAX_WAITING = 32;

export interface TaskOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onWaiting?: (() => void) | undefined;
  /** Whether the task may run beside other tasks with this option. */
  readonly untimed?: boolean | undefined;
}

/** One task at a time, in order, because other work disturbs a measurement; untimed ones may run beside each other. */
export class TaskLimiter {
  readonly #semaphore: FairSemaphore;
  readonly #clock = new SharedClock();

  constructor(private readonly maxUntimed: number) {
    this.#semaphore = new FairSemaphore(maxUntimed);
  }

  /** See {@link SharedClock}. */
  get sharedMs(): number {
    return this.#clock.ms;
  }

  /** @throws PlatformError `cancelled` where the signal aborts before its turn, `exhausted` where too many wait */
  async run<T>(task: () => Promise<T>, { signal, onWaiting, untimed = false }: TaskOptions = {}): Promise<T> {
    if (this.#semaphore.waiting >= MAX_WAITING) {
      throw new PlatformError('exhausted', `${MAX_WAITING} requests wait for this agent already; try again later`);
    }
    const size = untimed ? 1 : this.maxUntimed;
    const leave = await this.#semaphore.take({ signal, size, onWaiting });
    this.#clock.begin();
    try {
      return await task();
    } finally {
      this.#clock.end();
      leave();
    }
  }
}
