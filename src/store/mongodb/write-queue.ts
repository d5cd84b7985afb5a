import type { PlatformError } from '../../base/errors.js';

export interface WriteQueueOptions<Item> {
  /** Only the last of several waiting items with one key is written. */
  readonly itemKey: (item: Item) => string;
  readonly bytesOf: (item: Item) => number;
  /** Writes items with different keys. @returns the errors of refused items. Throws if possibly none was written. */
  readonly write: (items: readonly Item[]) => Promise<readonly (PlatformError | undefined)[]>;
}

interface Waiting<Item> {
  readonly item: Item;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The most that one request to the server writes. */
const BATCH_ITEMS = 1000;
const BATCH_BYTES = 16 * 1024 ** 2;

/** Writes that come during another write go to the server together, one request at a time and in their order. */
export class WriteQueue<Item> {
  readonly #waiting: Waiting<Item>[] = [];
  #writing = false;

  constructor(private readonly options: WriteQueueOptions<Item>) {}

  put(item: Item): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (!this.#writing) void this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    this.#writing = true;
    // Other writes of this turn of the event loop go into the first request.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#nextBatch();
      const last = new Map(batch.map(({ item }) => [this.options.itemKey(item), item]));
      const keys = [...last.keys()];
      try {
        const refusals = await this.options.write([...last.values()]);
        for (const { item, resolve, reject } of batch) {
          const refusal = refusals[keys.indexOf(this.options.itemKey(item))];
          if (refusal === undefined) resolve();
          else reject(refusal);
        }
      } catch (thrown) {
        for (const { reject } of batch) reject(thrown);
      }
    }
    this.#writing = false;
  }

  #nextBatch(): readonly Waiting<Item>[] {
    let bytes = 0;
    let items = 0;
    for (const { item } of this.#waiting) {
      if (items === BATCH_ITEMS || (items > 0 && bytes >= BATCH_BYTES)) break;
      bytes += this.options.bytesOf(item);
      items += 1;
    }
    return this.#waiting.splice(0, items);
  }
}
