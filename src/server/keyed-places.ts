import { Places } from '../base/places.js';

interface Shared {
  readonly places: Places;
  users: number;
}

export class KeyedPlaces {
  readonly #byKey = new Map<string, Shared>();

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
