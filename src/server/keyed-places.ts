import { Places } from '../base/places.js';

interface Shared {
  readonly places: Places;
  users: number;
}

/** Runs work one at a time for each key, first come, first served. */
export class KeyedPlaces {
  /** The keys for which work runs or waits. */
  readonly #byKey = new Map<string, Shared>();

  /** @throws PlatformError the signal's reason when it is aborted while the work waits, and the work's own errors */
  async run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const shared = this.#byKey.get(key) ?? { places: new Places(1), users: 0 };
    this.#byKey.set(key, shared);
    shared.users++;
    try {
      return await shared.places.run(work, { signal });
    } finally {
      if (--shared.users === 0) this.#byKey.delete(key);
    }
  }
}
