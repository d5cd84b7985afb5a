import { cancellationOf, throwIfCancelled } from '../base/cancellation.js';

/** Gives a place back. May be called again. */
export type LeavePlace = () => void;

/** A number of places for something that takes memory, taken first come, first served. */
export class Places {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves when it is the caller's turn. @throws PlatformError what the signal is aborted with */
  async take(signal?: AbortSignal): Promise<LeavePlace> {
    throwIfCancelled(signal);
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal);
    let isTaken = true;
    return () => {
      if (isTaken) this.#giveBack();
      isTaken = false;
    };
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const forget = (): void => {
        this.#waiting.delete(enter);
        signal?.removeEventListener('abort', leave);
      };
      const enter = (): void => {
        forget();
        resolve();
      };
      const leave = (): void => {
        forget();
        if (signal !== undefined) reject(cancellationOf(signal));
      };
      this.#waiting.add(enter);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  #giveBack(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free++;
    else next();
  }
}
