import { cancellationOf, throwIfCancelled } from './cancellation.js';

/** May be called again. */
export type Release = () => void;

export interface TakeOptions {
  readonly signal?: AbortSignal | undefined;
  /** Of several clients that wait, the one with the fewest places is next. */
  readonly client?: string | undefined;
  readonly size?: number | undefined;
  readonly onWaiting?: (() => void) | undefined;
}

interface Waiting {
  readonly client: string;
  readonly size: number;
  readonly enter: () => void;
}

/** First come, first served among equal clients. */
export class FairSemaphore {
  #free: number;
  readonly #waiting = new Set<Waiting>();
  readonly #taken = new Map<string, number>();

  constructor(count: number) {
    this.#free = count;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  get isIdle(): boolean {
    return this.#taken.size === 0;
  }

  /** @throws PlatformError the reason of the aborted signal */
  async take({ signal, client = '', size = 1, onWaiting }: TakeOptions = {}): Promise<Release> {
    throwIfCancelled(signal);
    if (this.#waiting.size === 0 && size <= this.#free) this.#count(client, size);
    else {
      onWaiting?.();
      await this.#wait(client, size, signal);
    }
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#count(client, -size);
      this.#admit();
    };
  }

  async run<T>(work: () => Promise<T>, options?: TakeOptions): Promise<T> {
    const leave = await this.take(options);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  #wait(client: string, size: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const forget = (): void => {
        this.#waiting.delete(waiting);
        signal?.removeEventListener('abort', leave);
      };
      const enter = (): void => {
        forget();
        this.#count(client, size);
        resolve();
      };
      const leave = (): void => {
        forget();
        // Those behind it may fit where this one did not.
        this.#admit();
        if (signal !== undefined) reject(cancellationOf(signal));
      };
      const waiting = { client, size, enter };
      this.#waiting.add(waiting);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  #admit(): void {
    for (;;) {
      let next: Waiting | undefined;
      for (const one of this.#waiting) if (next === undefined || this.#of(one) < this.#of(next)) next = one;
      if (next === undefined || next.size > this.#free) return;
      next.enter();
    }
  }

  #of({ client }: Waiting): number {
    return this.#taken.get(client) ?? 0;
  }

  #count(client: string, change: number): void {
    this.#free -= change;
    const taken = (this.#taken.get(client) ?? 0) + change;
    if (taken > 0) this.#taken.set(client, taken);
    else this.#taken.delete(client);
  }
}
