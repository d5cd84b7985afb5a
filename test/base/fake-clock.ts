import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../src/base/clock.js';

interface Sleeper {
  readonly untilMs: number;
  readonly wake: () => void;
}

/** A clock that stands still until a test advances it. */
export class FakeClock implements Clock {
  #nowMs = 0;
  readonly #sleepers = new Set<Sleeper>();

  readonly now = (): number => this.#nowMs;

  readonly sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal?.aborted === true) {
        resolve();
        return;
      }
      const wake = (): void => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const sleeper = { untilMs: this.#nowMs + ms, wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', wake);
    });

  /** How many sleeps have not ended. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  /** Advances the time; the sleeps that are due end in order. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    await setImmediate();
    for (;;) {
      const due = [...this.#sleepers].filter(({ untilMs }) => untilMs <= endMs);
      const [next] = due.sort((a, b) => a.untilMs - b.untilMs);
      if (next === undefined) break;
      this.#nowMs = next.untilMs;
      next.wake();
      await setImmediate();
    }
    this.#nowMs = endMs;
  }
}
