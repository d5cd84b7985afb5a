/** A clock with calls at given times. Its moments are milliseconds since some moment in the past. */
export interface LoadClock {
  now(): number;
  at(ms: number, call: () => void): void;
}

/** A timer of the system may be a millisecond late, or more; so the clock is looked at from then on. */
const LOOKS_BEFORE_MS = 2;

/** The monotonic clock of this process. Until the looks begin, a waiting call takes no processor time. */
export function realClock(now: () => number = () => performance.now()): LoadClock {
  return {
    now,
    at(ms, call) {
      const look = (): void => {
        if (now() >= ms) call();
        // Messages that came meanwhile are handled between two looks.
        else setImmediate(look);
      };
      const sleepMs = ms - now() - LOOKS_BEFORE_MS;
      if (sleepMs >= 1) setTimeout(() => realClock(now).at(ms, call), sleepMs);
      else look();
    },
  };
}

interface Planned {
  readonly ms: number;
  readonly order: number;
  readonly call: () => void;
}

function isBefore(a: Planned, b: Planned): boolean {
  return a.ms < b.ms || (a.ms === b.ms && a.order < b.order);
}

/** A clock for simulations: time passes only between calls. Its plan is a binary heap. */
export class VirtualClock implements LoadClock {
  #ms = 0;
  #orders = 0;
  readonly #heap: Planned[] = [];

  now(): number {
    return this.#ms;
  }

  at(ms: number, call: () => void): void {
    const planned = { ms: Math.max(ms, this.#ms), order: this.#orders++, call };
    const heap = this.#heap;
    let index = heap.push(planned) - 1;
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || isBefore(parent, planned)) break;
      heap[index] = parent;
      index = above;
    }
    heap[index] = planned;
  }

  /** Makes calls until none is planned, or until the condition holds. */
  run(until: () => boolean = () => false): void {
    while (!until()) {
      const next = this.#take();
      if (next === undefined) return;
      this.#ms = next.ms;
      next.call();
    }
  }

  #take(): Planned | undefined {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (last === undefined || first === last) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      const [left, right] = [heap[child], heap[child + 1]];
      if (left === undefined) break;
      if (right !== undefined && isBefore(right, left)) child++;
      const least = child === 2 * index + 1 || right === undefined ? left : right;
      if (!isBefore(least, last)) break;
      heap[index] = least;
      index = child;
    }
    heap[index] = last;
    return first;
  }
}
