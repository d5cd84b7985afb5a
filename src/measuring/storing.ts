import type { Measurement } from '../measurement/measurement.js';
import type { ResultStore } from '../store/result-store.js';

/** Measurements that are on their way into the store at a time. */
const MOST_PENDING = 64;

/**
 * Stores measurements as they come, several in one transaction. Storing them one after another takes long enough to disturb the
 * measurement that follows: a hundred bricks are measured at once.
 */
export class Storing {
  #pending: Promise<void>[] = [];
  #hasFailed = false;

  constructor(private readonly store: Pick<ResultStore, 'putMeasurement'>) {}

  /**
   * Begins to store a measurement. Waits for earlier ones where too many are on their way.
   *
   * @throws PlatformError as the store did for one of them: a measurement that cannot be kept is not worth taking
   */
  async put(measurement: Measurement): Promise<void> {
    const stored = this.store.putMeasurement(measurement);
    this.#pending.push(stored);
    stored.catch(() => (this.#hasFailed = true));
    // A store that refuses at once has done so after this.
    await Promise.resolve();
    if (this.#hasFailed || this.#pending.length >= MOST_PENDING) await this.done();
  }

  /** Resolves when everything is stored. @throws PlatformError as the store does */
  async done(): Promise<void> {
    await Promise.all(this.#pending.splice(0));
  }
}
