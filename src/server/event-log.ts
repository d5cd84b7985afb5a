import { PlatformError } from '../base/errors.js';
import type { Collection } from '../store/collection.js';
import { isFinal, type LoggedEvent, type PlatformEvent } from '../evaluation/event.js';
import { type EventDocument, eventKey } from '../evaluation/records.js';

/** Events of one evaluation; those of measuring replace each other and do not count. */
export const MAX_EVENTS = 10_000;

/** Characters of JSON of all these events together, the result apart. */
const MAX_CHARACTERS = 16 * 2 ** 20;

function withoutResult(event: PlatformEvent): PlatformEvent {
  return event.kind === 'done' ? { kind: 'done', partial: event.partial } : event;
}

/** The position of a log's reader. */
export interface Cursor {
  readonly sequence: number;
  /** Number of `measuring` events seen. */
  readonly measurings: number;
}

/**
 * The events of one evaluation. An event is stored before any reader gets it, so that no number is used twice; only the
 * progress of measuring stays in memory. A log is bounded, and readers read it at their own pace. The result, which may
 * be large, is in the store only, see {@link Results}.
 */
export class EventLog {
  readonly #events: LoggedEvent[];
  readonly #waiting = new Set<() => void>();
  #measuring: LoggedEvent | undefined;
  #measurings = 0;
  #characters = 0;
  #appending: Promise<void> = Promise.resolve();

  private constructor(
    private readonly evaluation: string,
    private readonly documents: Collection<EventDocument>,
    known: readonly LoggedEvent[],
  ) {
    this.#events = [...known];
  }

  /** The stored log of an evaluation; empty for a new one. */
  static async open(evaluation: string, documents: Collection<EventDocument>): Promise<EventLog> {
    const known: LoggedEvent[] = [];
    for await (const { sequence, at, event } of documents.find({ evaluation })) {
      known.push({ sequence: Number(sequence), at, event: withoutResult(event) });
    }
    return new EventLog(evaluation, documents, known);
  }

  /** The latest event, `measuring` included; undefined before the first one. */
  get last(): LoggedEvent | undefined {
    return this.#measuring ?? this.#events.at(-1);
  }

  get hasEnded(): boolean {
    const last = this.#events.at(-1);
    return last !== undefined && isFinal(last.event);
  }

  /**
   * Adds an event, after those that are being added, and resolves when the store has it.
   *
   * @throws PlatformError `exhausted` where there are too many, `storage` where the store fails
   */
  append(event: PlatformEvent): Promise<void> {
    const added = this.#appending.then(() => this.#append(event));
    this.#appending = added.catch(() => undefined);
    return added;
  }

  async #append(event: PlatformEvent): Promise<void> {
    const at = new Date().toISOString();
    const last = this.#events.at(-1)?.sequence ?? 0;
    if (event.kind === 'measuring') {
      this.#measuring = { sequence: last, at, event };
      this.#measurings++;
    } else {
      this.#account(event);
      const sequence = last + 1;
      await this.documents.put({ ...eventKey(this.evaluation, sequence), at, event });
      this.#events.push({ sequence, at, event: withoutResult(event) });
      if (isFinal(event)) this.#measuring = undefined;
    }
    for (const wake of [...this.#waiting]) wake();
  }

  /** The events after the cursor, and the new cursor. */
  read(after: Cursor): { readonly events: readonly LoggedEvent[]; readonly cursor: Cursor } {
    const last = this.#events.at(-1)?.sequence ?? 0;
    // Numbers have no gaps.
    const events = this.#events.slice(Math.max(0, this.#events.length - (last - after.sequence)));
    const measuring = this.#measuring;
    if (measuring !== undefined && this.#measurings > after.measurings) events.push({ ...measuring, sequence: last });
    return { events, cursor: { sequence: Math.max(last, after.sequence), measurings: this.#measurings } };
  }

  /** Resolves when there is an event after the cursor, or the signal is aborted. */
  async changed(after: Cursor, signal: AbortSignal): Promise<void> {
    while (this.read(after).events.length === 0 && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#waiting.delete(wake);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        this.#waiting.add(wake);
        signal.addEventListener('abort', wake, { once: true });
      });
    }
  }

  #account(event: PlatformEvent): void {
    // The last event always has room.
    if (isFinal(event)) return;
    this.#characters += JSON.stringify(event).length;
    if (this.#events.length < MAX_EVENTS && this.#characters <= MAX_CHARACTERS) return;
    const limit = `${MAX_EVENTS} events or ${MAX_CHARACTERS} characters of them`;
    throw new PlatformError('exhausted', `the plugin sent more than ${limit}; the plugin has to combine events`);
  }
}
