import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Release, FairSemaphore, type TakeOptions } from '../base/fair-semaphore.js';
import { RecentlyUsed } from '../base/recently-used.js';
import type { LoggedEvent } from '../evaluation/event.js';
import { eventKey, type EventDocument } from '../evaluation/records.js';
import type { Collection } from '../store/collection.js';

/** The most results that are read at the same time, of up to 12 MiB each; readers of further ones wait. */
const MAX_OPEN = 8;

/** The most bytes of results that are kept for later readers. */
const MAX_KEPT_BYTES = 64 * 2 ** 20;

export interface OpenResult {
  /** The JSON in UTF-8, which all readers share; undefined if the store no longer has the result. */
  readonly json: Buffer | undefined;
  readonly close: () => void;
}

interface Shared {
  readonly json: Promise<Buffer | undefined>;
  readonly leave: Release;
  readers: number;
}

/** Encoded as they are sent. Readers share one read. Results are loaded one at a time: tens of ms for the largest. */
export class ResultCache {
  readonly #open = new Map<string, Shared>();
  readonly #kept = new RecentlyUsed<Buffer>(MAX_KEPT_BYTES);
  readonly #semaphore = new FairSemaphore(MAX_OPEN);
  readonly #loads = new FairSemaphore(1);

  constructor(private readonly documents: Collection<EventDocument>) {}

  async open(evaluation: string, { sequence, at }: LoggedEvent, waiting?: TakeOptions): Promise<OpenResult> {
    const id = `${evaluation} ${at}`;
    const shared =
      this.#join(id) ??
      this.#begin(id, await this.#semaphore.take(waiting), () => {
        return this.#loads.run(() => this.#load(evaluation, sequence));
      });
    let isOpen = true;
    const close = (): void => {
      if (isOpen) this.#leave(id, shared);
      isOpen = false;
    };
    try {
      return { json: await shared.json, close };
    } catch (error) {
      close();
      throw error;
    }
  }

  #join(id: string): Shared | undefined {
    const shared = this.#open.get(id);
    if (shared !== undefined) shared.readers++;
    return shared;
  }

  #begin(id: string, leave: Release, load: () => Promise<Buffer | undefined>): Shared {
    const meanwhile = this.#join(id);
    if (meanwhile !== undefined) {
      leave();
      return meanwhile;
    }
    const kept = this.#kept.get(id);
    const shared = { json: kept === undefined ? load() : Promise.resolve(kept), leave, readers: 1 };
    this.#open.set(id, shared);
    return shared;
  }

  #leave(id: string, shared: Shared): void {
    if (--shared.readers > 0) return;
    this.#open.delete(id);
    shared.leave();
    shared.json.then(
      (json) => json && this.#kept.keep(id, json, json.length),
      () => undefined,
    );
  }

  async #load(evaluation: string, sequence: number): Promise<Buffer | undefined> {
    const stored = await this.documents.get(eventKey(evaluation, sequence));
    const result = stored?.event.kind === 'done' ? stored.event.resultJson : undefined;
    // Reading and encoding take some tens of milliseconds each.
    await nextTurn();
    return result === undefined ? undefined : Buffer.from(result);
  }
}
