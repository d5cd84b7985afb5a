import { FairSemaphore, type Release, type TakeOptions } from '../base/fair-semaphore.js';

export interface OpenRead<Value> {
  readonly value: Value;
  /** Aborts after the last reader, or by {@link SharedReads.replace}. */
  readonly end: AbortSignal;
  readonly close: () => void;
}

interface Shared<Value> {
  readonly value: Promise<Value>;
  readonly leave: Release;
  readonly end: AbortController;
  readers: number;
}

/** Readers of the same thing share one read. While as many things as allowed are open, readers of others wait. */
export class SharedReads<Value> {
  readonly #open = new Map<string, Shared<Value>>();
  readonly #semaphore: FairSemaphore;

  constructor(most: number) {
    this.#semaphore = new FairSemaphore(most);
  }

  async open(id: string, read: (end: AbortSignal) => Promise<Value>, waiting?: TakeOptions): Promise<OpenRead<Value>> {
    const shared = this.#open.get(id) ?? this.#begin(id, read, await this.#semaphore.take(waiting));
    shared.readers++;
    let isOpen = true;
    const close = (): void => {
      if (isOpen) this.#leave(id, shared);
      isOpen = false;
    };
    try {
      return { value: await shared.value, end: shared.end.signal, close };
    } catch (error) {
      close();
      throw error;
    }
  }

  /** Later readers read anew. */
  replace(id: string): void {
    const shared = this.#open.get(id);
    this.#open.delete(id);
    shared?.end.abort();
  }

  #begin(id: string, read: (end: AbortSignal) => Promise<Value>, leave: Release): Shared<Value> {
    const meanwhile = this.#open.get(id);
    if (meanwhile !== undefined) {
      leave();
      return meanwhile;
    }
    const end = new AbortController();
    const shared = { value: read(end.signal), leave, end, readers: 0 };
    this.#open.set(id, shared);
    return shared;
  }

  #leave(id: string, shared: Shared<Value>): void {
    if (--shared.readers > 0) return;
    if (this.#open.get(id) === shared) this.#open.delete(id);
    shared.end.abort();
    shared.leave();
  }
}
