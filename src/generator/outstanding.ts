import type { LoadClock } from '../load/clock.js';
import type { Target } from '../load/trial.js';

/** The queries that servers have to answer, also those of a trial that ended early. */
export class Outstanding {
  #count = 0;
  #heardMs = 0;
  #onIdle: () => void = () => undefined;

  constructor(private readonly clock: Pick<LoadClock, 'now'>) {}

  get count(): number {
    return this.#count;
  }

  /** How long servers with queries have answered none; 0 where they have none. */
  get silentMs(): number {
    return this.#count === 0 ? 0 : this.clock.now() - this.#heardMs;
  }

  countedTarget(target: Target): Target {
    return {
      send: (samples, answered) => {
        if (this.#count++ === 0) this.#heardMs = this.clock.now();
        target.send(samples, (answer) => {
          this.#heardMs = this.clock.now();
          this.#count--;
          answered(answer);
          if (this.#count === 0) this.#onIdle();
        });
      },
    };
  }

  /** Calls once, as soon as all queries are answered. */
  whenIdle(call: () => void): void {
    this.#onIdle = () => {
      this.#onIdle = () => undefined;
      call();
    };
    if (this.#count === 0) this.#onIdle();
  }
}
