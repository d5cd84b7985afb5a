import { setTimeout as setTimeoutPromise } from 'node:timers/promises';
import { Heap } from '../base/heap.js';

/** A clock with calls at given times. Its moments are milliseconds since some moment in the past. */
export interface LoadClock {
  now(): number;
  at(ms: number, call: () => void): void;
}

/** How long before a moment the timer ends. A timer of the event loop may be two milliseconds late on an idle machine. */
const MIN_MARGIN_MS = 2;
const MAX_MARGIN_MS = 10;

/** Then come naps: a nap ends within some microseconds, but holds up messages. */
const NAP_MS = 0.2;
/**
 * From here on only the clock is looked at: handling a message takes half a millisecond, and the call would be late.
 */
const LOOKS_MS = 1;

const NAPPING = new Int32Array(new SharedArrayBuffer(4));

/**
 * The monotonic clock of this process. A waiting call leaves the processor to others until shortly before its moment.
 */
export function realClock(now: () => number = () => performance.now(), marginMs = MIN_MARGIN_MS): LoadClock {
  return {
    now,
    at(ms, call) {
      const look = (): void => {
        if (ms - now() <= LOOKS_MS) {
          while (now() < ms);
          call();
          return;
        }
        Atomics.wait(NAPPING, 0, 0, NAP_MS);
        // Messages that came meanwhile are handled between two naps.
        setImmediate(look);
      };
      const wait = (): void => {
        const sleepMs = ms - now() - marginMs;
        if (sleepMs >= 1) setTimeout(wait, sleepMs);
        else look();
      };
      wait();
    },
  };
}

const CALIBRATING_TIMERS = 100;

/** A margin for {@link realClock}: more than the latest of some timers needs on this machine, within limits. */
export async function timerMarginMs(now: () => number): Promise<number> {
  let latestMs = 0;
  for (let timer = 0; timer < CALIBRATING_TIMERS; timer++) {
    const dueMs = now() + 1 + (timer % 3);
    await setTimeoutPromise(1 + (timer % 3));
    latestMs = Math.max(latestMs, now() - dueMs);
  }
  return Math.min(MAX_MARGIN_MS, Math.max(MIN_MARGIN_MS, latestMs + 1));
}

interface Planned {
  readonly ms: number;
  readonly order: number;
  readonly call: () => void;
}

/** A clock for simulations: time passes only between calls. */
export class VirtualClock implements LoadClock {
  #ms = 0;
  #orders = 0;
  readonly #plan = new Heap<Planned>((a, b) => a.ms < b.ms || (a.ms === b.ms && a.order < b.order));

  now(): number {
    return this.#ms;
  }

  at(ms: number, call: () => void): void {
    this.#plan.add({ ms: Math.max(ms, this.#ms), order: this.#orders++, call });
  }

  run(until: () => boolean = () => false): void {
    while (!until()) {
      const next = this.#plan.take();
      if (next === undefined) return;
      this.#ms = next.ms;
      next.call();
    }
  }
}
