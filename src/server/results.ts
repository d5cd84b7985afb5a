import { setImmediate as nextTurn } from 'node:timers/promises';
import { FairSemaphore, type TakeOptions } from '../base/fair-semaphore.js';
import { RecentlyUsed } from '../base/recently-used.js';
import type { LoggedEvent } from '../evaluation/event.js';
import { eventKey, type EventDocument } from '../evaluation/records.js';
import type { Collection } from '../store/collection.js';
import { SharedReads } from './shared-reads.js';

/** The most results that are read at the same time, of up to 12 MiB each; readers of further ones wait. */
const MAX_OPEN = 8;

/** The most bytes of results that are kept for later readers. */
const MAX_KEPT_BYTES = 64 * 2 ** 20;

/** Encoded as they are sent. Readers share one read. Results are loaded one at a time: tens of ms for the largest. */
export class ResultCache {
  readonly #reads = new SharedReads<Buffer | undefined>(MAX_OPEN);
  readonly #kept = new RecentlyUsed<Buffer>(MAX_KEPT_BYTES);
  readonly #loads = new FairSemaphore(1);

  constructor(private readonly documents: Collection<EventDocument>) {}

  /** @returns the JSON in UTF-8, which all readers share; undefined if the store no longer has the result */
  async open(evaluation: string, { sequence, at }: LoggedEvent, waiting?: TakeOptions) {
    const id = `${evaluation} ${at}`;
    const read = async (): Promise<Buffer | undefined> => {
      const json = this.#kept.get(id) ?? (await this.#loads.run(() => this.#load(evaluation, sequence)));
      if (json !== undefined) this.#kept.keep(id, json, json.length);
      return json;
    };
    const { value: json, close } = await this.#reads.open(id, read, waiting);
    return { json, close };
  }

  async #load(evaluation: string, sequence: number): Promise<Buffer | undefined> {
    const stored = await this.documents.get(eventKey(evaluation, sequence));
    const result = stored?.event.kind === 'done' ? stored.event.resultJson : undefined;
    // Reading and encoding take some tens of milliseconds each.
    await nextTurn();
    return result === undefined ? undefined : Buffer.from(result);
  }
}
