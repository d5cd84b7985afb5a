import type { EventDocument } from '../evaluation/records.js';
import type { Collection } from '../store/collection.js';
import { EventLog } from './event-log.js';
import { type LeavePlace, Places } from './places.js';

/** Different evaluations whose events are in memory at once for readers; further ones wait. */
const MOST_OPEN = 32;

/** A log that is in memory until all its readers have closed it. */
export interface OpenLog {
  readonly log: EventLog;
  /** May be called again. */
  readonly close: () => void;
}

interface Shared {
  readonly log: Promise<EventLog>;
  readonly leave: LeavePlace;
  readers: number;
}

/** The events of ended evaluations, read from the store once for all concurrent readers. */
export class EndedLogs {
  readonly #shared = new Map<string, Shared>();
  readonly #places = new Places(MOST_OPEN);

  constructor(private readonly documents: Collection<EventDocument>) {}

  /** @throws PlatformError the signal's reason while it waits; `storage` */
  async open(evaluation: string, signal?: AbortSignal): Promise<OpenLog> {
    const shared = this.#shared.get(evaluation) ?? (await this.#read(evaluation, signal));
    shared.readers++;
    let isOpen = true;
    const close = (): void => {
      if (isOpen) this.#leave(evaluation, shared);
      isOpen = false;
    };
    try {
      return { log: await shared.log, close };
    } catch (error) {
      close();
      throw error;
    }
  }

  async #read(evaluation: string, signal?: AbortSignal): Promise<Shared> {
    const leave = await this.#places.take({ signal });
    const meanwhile = this.#shared.get(evaluation);
    if (meanwhile !== undefined) {
      leave();
      return meanwhile;
    }
    const shared = { log: EventLog.open(evaluation, this.documents), leave, readers: 0 };
    this.#shared.set(evaluation, shared);
    return shared;
  }

  #leave(evaluation: string, shared: Shared): void {
    if (--shared.readers > 0) return;
    this.#shared.delete(evaluation);
    shared.leave();
  }
}
