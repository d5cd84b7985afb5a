/** Work up to this long shares one turn of the event loop: thousands of small answers must not wait for a turn each. */
const SHARED_MS = 5;

/**
 * Iterations of the event loop between two turns. A short call of another client takes several iterations, and would
 * wait for a turn in each of them.
 */
const ITERATIONS_BETWEEN = 3;

/**
 * Gives callers turns of the event loop, first come, first served. Work that takes some tens of milliseconds for
 * one client takes seconds for a hundred clients that ask at once. Between two turns, other clients are served.
 */
export class LoopTurns {
  readonly #waiting = new Set<() => void>();
  #isPlanned = false;

  take(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.add(resolve);
      this.#plan();
    });
  }

  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    this.#after(ITERATIONS_BETWEEN);
  }

  #after(iterations: number): void {
    setImmediate(() => {
      if (iterations > 1) this.#after(iterations - 1);
      else this.#give(performance.now());
    });
  }

  #give(startMs: number): void {
    const [next] = this.#waiting;
    if (next === undefined || performance.now() - startMs > SHARED_MS) {
      this.#isPlanned = false;
      if (next !== undefined) this.#plan();
      return;
    }
    this.#waiting.delete(next);
    next();
    // Promises are settled before this callback, so that the work of the turn is done by then.
    queueMicrotask(() => process.nextTick(() => this.#give(startMs)));
  }
}
