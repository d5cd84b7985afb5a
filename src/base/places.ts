import { cancellationOf, throwIfCancelled } from './cancellation.js';

/** Gives a place back. May be called again. */
export type LeavePlace = () => void;

export interface TakeOptions {
  /** When it aborts, waiting ends. */
  readonly signal?: AbortSignal | undefined;
  /** The client that takes the place. Of several clients that wait, the one with the fewest places is next. */
  readonly client?: string | undefined;
}

interface Waiting {
  readonly client: string;
  readonly enter: () => void;
}

/** A limited number of places for work that takes memory or time: first come, first served among equal clients. */
export class Places {
  #free: number;
  readonly #waiting = new Set<Waiting>();
  /** Places of each client that has one. */
  readonly #taken = new Map<string, number>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves when it is the caller's turn. @throws PlatformError the reason of the aborted signal */
  async take({ signal, client = '' }: TakeOptions = {}): Promise<LeavePlace> {
    throwIfCancelled(signal);
    if (this.#free > 0) {
      this.#free--;
      this.#count(client, 1);
    } else await this.#turn(client, signal);
    let isTaken = true;
    return () => {
      if (isTaken) this.#giveBack(client);
      isTaken = false;
    };
  }

  /** Runs work in a place. @throws PlatformError as {@link take}, and the work's own errors */
  async run<T>(work: () => Promise<T>, options?: TakeOptions): Promise<T> {
    const leave = await this.take(options);
    return await work().finally(leave);
  }

  #turn(client: string, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const forget = (): void => {
        this.#waiting.delete(waiting);
        signal?.removeEventListener('abort', leave);
      };
      const enter = (): void => {
        forget();
        this.#count(client, 1);
        resolve();
      };
      const leave = (): void => {
        forget();
        if (signal !== undefined) reject(cancellationOf(signal));
      };
      const waiting = { client, enter };
      this.#waiting.add(waiting);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  #giveBack(client: string): void {
    this.#count(client, -1);
    let next: Waiting | undefined;
    for (const one of this.#waiting) if (next === undefined || this.#of(one) < this.#of(next)) next = one;
    if (next === undefined) this.#free++;
    else next.enter();
  }

  #of({ client }: Waiting): number {
    return this.#taken.get(client) ?? 0;
  }

  #count(client: string, change: number): void {
    const taken = (this.#taken.get(client) ?? 0) + change;
    if (taken > 0) this.#taken.set(client, taken);
    else this.#taken.delete(client);
  }
}
