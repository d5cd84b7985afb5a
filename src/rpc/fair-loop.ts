/** Work up to this long shares one turn of the event loop: thousands of small answers must not wait for a turn each. */
const SHARED_MS = 5;

/**
 * Iterations of the event loop between two turns. A short call of another client takes several iterations, and would
 * wait for a turn in each of them.
 */
const ITERATIONS_BETWEEN = 3;

interface Line {
  readonly waiting: (() => void)[];
  /** When its next turn is due, in the time that turns take, see {@link FairLoop}. */
  dueMs: number;
}

/**
 * Gives callers turns of the event loop. Work that takes some tens of milliseconds for one client takes seconds for a
 * hundred clients that ask at once. Between two turns, other clients are served.
 *
 * The turns are fair by time: the next turn goes to the client whose turns have taken the least, and a client that had
 * none for a while is on a par with the one that is served. So a client that asks for little never waits for the
 * pending work of one that asks for much. A client's own turns come in the order of its calls.
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
    // Promises are settled before this callback, so that the work of the turn is done by then.
    queueMicrotask(() =>
      process.nextTick(() => {
        line.dueMs += performance.now() - beginMs;
        this.#give(startMs);
      }),
    );
  }

  /** The waiting client whose turn is due first. Forgets clients that have waited for nothing since theirs was due. */
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
