import type { Measurement } from '../measurement/measurement.js';
import type { ResultStore } from '../store/result-store.js';

/** Most measurements that are being stored at a time. */
const MAX_PENDING = 64;

/** Several in one transaction: storing a hundred bricks one by one would disturb the next measurement. */
export class Storing {
  #pending: Promise<void>[] = [];
  #hasFailed = false;

  constructor(private readonly store: Pick<ResultStore, 'putMeasurement'>) {}

  /** Waits where too many are pending. @throws PlatformError as the store does, for any of them */
  async put(measurement: Measurement): Promise<void> {
    const stored = this.store.putMeasurement(measurement);
    this.#pending.push(stored);
    stored.catch(() => (this.#hasFailed = true));
    // After this, the error of a store that fails at once is known.
    await Promise.resolve();
    if (this.#hasFailed || this.#pending.length >= MAX_PENDING) await this.done();
  }

  /** Resolves when everything is stored. @throws PlatformError as the store does */
  async done(): Promise<void> {
    await Promise.all(this.#pending.splice(0));
  }
}
