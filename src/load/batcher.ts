import type { LoadClock } from './clock.js';

export interface Batching {
  /** Most samples of one run; a query is never divided. */
  readonly limit: number;
  /** Longest time that a query waits for others while the model is free; 0: only queries that wait already join. */
  readonly waitMs: number;
}

export const NO_BATCHING: Batching = { limit: 1, waitMs: 0 };

interface Waiting<Item> {
  readonly item: Item;
  readonly samples: number;
  readonly sinceMs: number;
}

/** The queue in front of one model: first come, first served, with several queries in one run where they fit. */
export class Batcher<Item> {
  #queue: Waiting<Item>[] = [];
  #head = 0;
  #isRunning = false;
  #looksAtMs = Infinity;

  constructor(
    private readonly batching: Batching,
    private readonly clock: LoadClock,
    private readonly run: (items: readonly Item[], samples: number, done: () => void) => void,
  ) {}

  get length(): number {
    return this.#queue.length - this.#head;
  }

  /** @param sinceMs when the query came, where that was before */
  add(item: Item, samples: number, sinceMs = this.clock.now()): void {
    this.#queue.push({ item, samples, sinceMs });
    this.#start();
  }

  #start(): void {
    const oldest = this.#queue[this.#head];
    if (this.#isRunning || oldest === undefined) return;
    const { limit, waitMs } = this.batching;
    let samples = oldest.samples;
    let end = this.#head + 1;
    for (let next = this.#queue[end]; next && samples + next.samples <= limit; next = this.#queue[++end]) {
      samples += next.samples;
    }
    const isFull = samples >= limit || end < this.#queue.length;
    const untilMs = oldest.sinceMs + waitMs;
    if (!isFull && this.clock.now() < untilMs) {
      this.#lookAt(untilMs);
      return;
    }
    const taken = this.#queue.slice(this.#head, end).map(({ item }) => item);
    this.#head = end;
    // Taken queries are dropped in large pieces, so that a long queue costs no more for each query.
    if (this.#head > 1024 && this.#head * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
    this.#isRunning = true;
    this.run(taken, samples, () => {
      this.#isRunning = false;
      this.#start();
    });
  }

  #lookAt(ms: number): void {
    if (this.#looksAtMs <= ms) return;
    this.#looksAtMs = ms;
    this.clock.at(ms, () => {
      this.#looksAtMs = Infinity;
      this.#start();
    });
  }
}
