/** Work up to this long shares one turn: thousands of small answers must not wait for a turn each. */
const SHARED_MS = 5;

/** A short call of another client takes several iterations, and would wait for a turn in each of them. */
const ITERATIONS_BETWEEN = 3;

interface Line {
  readonly waiting: (() => void)[];
  dueMs: number;
}

/**
 * Gives turns of the event loop, between which other clients are served: work of tens of milliseconds for one client is
 * seconds for a hundred that ask at once. The next turn goes to the client whose turns have taken the least time; one
 * that had none for a while is on a par with the one that is served. So a client that asks for little never waits for
 * the pending work of one that asks for much. A client's own turns come in the order of its calls.
 */
export class FairLoop {
  readonly #lines = new Map<string, Line>();
  #nowMs = 0;
  #isPlanned = false;

  take(client: string): Promise<void> {
    return new Promise((resolve) => {
      const line = this.#lines.get(client) ?? { waiting: [], dueMs: this.#nowMs };
      this.#lines.set(client, line);
      line.dueMs = Math.max(line.dueMs, this.#nowMs);
      line.waiting.push(resolve);
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
    const line = this.#next();
    const beginMs = performance.now();
    if (line === undefined || beginMs - startMs > SHARED_MS) {
      this.#isPlanned = false;
      if (line !== undefined) this.#plan();
      return;
    }
    this.#nowMs = line.dueMs;
    line.waiting.shift()?.();
    queueMicrotask(() =>
      process.nextTick(() => {
        line.dueMs += performance.now() - beginMs;
        this.#give(startMs);
      }),
    );
  }

  /** Forgets clients that have waited for nothing since their turn was due. */
  #next(): Line | undefined {
    let next: Line | undefined;
    for (const [client, line] of this.#lines) {
      if (line.waiting.length > 0) {
        if (next === undefined || line.dueMs < next.dueMs) next = line;
      } else if (line.dueMs <= this.#nowMs) this.#lines.delete(client);
    }
    if (next === undefined) this.#lines.clear();
    return next;
  }
}
