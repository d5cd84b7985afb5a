import type { PlatformError } from '../base/errors.js';

export interface WriteQueueOptions<Item> {
  /** How much one write takes, together; a single item may be more. */
  readonly most: { readonly entries: number; readonly bytes: number };
  readonly extentOf: (item: Item) => { readonly entries: number; readonly bytes: number };
  /** @returns the error of each item that is refused. Throws if possibly none was written. */
  readonly write: (items: readonly Item[]) => Promise<readonly (PlatformError | undefined)[]>;
}

interface Waiting<Item> {
  readonly item: Item;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Items that come during a write are written together, one write at a time and in their order. */
export class WriteQueue<Item> {
  readonly #waiting: Waiting<Item>[] = [];
  #writing: Promise<void> | undefined;

  constructor(private readonly options: WriteQueueOptions<Item>) {}

  put(item: Item): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  /** Resolves when nothing waits any more. */
  async end(): Promise<void> {
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    // Other items of this turn of the event loop go into the first write.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#nextBatch();
      try {
        const refusals = await this.options.write(batch.map(({ item }) => item));
        for (const [index, { resolve, reject }] of batch.entries()) {
          const refusal = refusals[index];
          if (refusal === undefined) resolve();
          else reject(refusal);
        }
      } catch (thrown) {
        for (const { reject } of batch) reject(thrown);
      }
    }
    this.#writing = undefined;
  }

  #nextBatch(): readonly Waiting<Item>[] {
    const { most, extentOf } = this.options;
    let entries = 0;
    let bytes = 0;
    let items = 0;
    for (const { item } of this.#waiting) {
      if (items > 0 && (entries >= most.entries || bytes >= most.bytes)) break;
      const extent = extentOf(item);
      entries += extent.entries;
      bytes += extent.bytes;
      items += 1;
    }
    return this.#waiting.splice(0, items);
  }
}
