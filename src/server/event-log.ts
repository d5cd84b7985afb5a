import { isDeepStrictEqual } from 'node:util';
import { untilDone } from '../base/cancellation.js';
import { PlatformError } from '../base/errors.js';
import type { Collection } from '../store/collection.js';
import { isFinal, type LoggedEvent, type PlatformEvent } from '../evaluation/event.js';
import { type EventDocument, eventKey } from '../evaluation/records.js';

/** The most events of one evaluation. `measuring` events replace each other and do not count. */
export const MAX_EVENTS = 10_000;

const MAX_CHARACTERS = 16 * 2 ** 20;

function withoutResult(event: PlatformEvent): PlatformEvent {
  return event.kind === 'done' ? { kind: 'done', partial: event.partial } : event;
}

function toLogged({ sequence, at, event }: EventDocument): LoggedEvent {
  return { sequence: Number(sequence), at, event: withoutResult(event) };
}

/** This server can add nothing to an evaluation that another one has taken over. */
export class LostEvaluation extends PlatformError {
  constructor() {
    super('unavailable', 'another server has this evaluation now and continues it');
  }
}

export interface Cursor {
  readonly sequence: number;
  readonly measurings: number;
}

export type IsOwn = () => Promise<boolean>;

/**
 * The events of one evaluation. Readers get only stored events (but `measuring`, which stays in memory), so that no
 * sequence number is used twice; the result is in the store only ({@link ResultCache}). Several servers may have the
 * log, but the store accepts one event per number: a server that lost the evaluation cannot add to it.
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
    private readonly isOwn: IsOwn,
  ) {
    this.#events = [...known];
  }

  static async open(
    evaluation: string,
    documents: Collection<EventDocument>,
    isOwn: IsOwn = () => Promise.resolve(true),
  ): Promise<EventLog> {
    const known: LoggedEvent[] = [];
    for await (const stored of documents.find({ evaluation })) known.push(toLogged(stored));
    return new EventLog(evaluation, documents, known, isOwn);
  }

  /** The latest event, `measuring` included while it measures; undefined before the first one. */
  get last(): LoggedEvent | undefined {
    return this.#measuring ?? this.#events.at(-1);
  }

  get characters(): number {
    return this.#events.reduce((sum, event) => sum + JSON.stringify(event).length, 0);
  }

  get hasEnded(): boolean {
    const last = this.#events.at(-1);
    return last !== undefined && isFinal(last.event);
  }

  /** Resolves when the store has it. @throws PlatformError `exhausted`, `storage`; `unavailable` if another has it */
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
      const characters = this.#countWith(event);
      if (isFinal(event) && !(await this.isOwn())) throw new LostEvaluation();
      await this.#store(at, event);
      this.#characters = characters;
      if (isFinal(event) || event.kind === 'waiting') this.#measuring = undefined;
    }
    this.#wake();
  }

  async #store(at: string, event: PlatformEvent): Promise<void> {
    const logged = JSON.parse(JSON.stringify(withoutResult(event))) as PlatformEvent;
    for (;;) {
      const sequence = (this.#events.at(-1)?.sequence ?? 0) + 1;
      if (await this.documents.insert({ ...eventKey(this.evaluation, sequence), at, event })) {
        this.#events.push({ sequence, at, event: withoutResult(event) });
        return;
      }
      // The previous server of the evaluation still added events, or this server has lost the evaluation.
      if (!(await this.isOwn())) throw new LostEvaluation();
      await this.catchUp();
      // An earlier call stored it, and failed because the answer was lost.
      if (isDeepStrictEqual(this.#events.find((known) => known.sequence === sequence)?.event, logged)) return;
      if (this.hasEnded) throw new LostEvaluation();
    }
  }

  async catchUp(): Promise<void> {
    for (;;) {
      const last = this.#events.at(-1)?.sequence ?? 0;
      const stored = await this.documents.get(eventKey(this.evaluation, last + 1));
      if (stored === undefined) return;
      this.#events.push(toLogged(stored));
      this.#wake();
    }
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  read(after: Cursor): { readonly events: readonly LoggedEvent[]; readonly cursor: Cursor } {
    const last = this.#events.at(-1)?.sequence ?? 0;
    // Sequence numbers have no gaps.
    const events = this.#events.slice(Math.max(0, this.#events.length - (last - after.sequence)));
    const measuring = this.#measuring;
    if (measuring !== undefined && this.#measurings > after.measurings) events.push({ ...measuring, sequence: last });
    return { events, cursor: { sequence: Math.max(last, after.sequence), measurings: this.#measurings } };
  }

  async changed(after: Cursor, signal: AbortSignal): Promise<void> {
    while (this.read(after).events.length === 0 && !signal.aborted) {
      let wake = (): void => undefined;
      await untilDone(signal, (done) => this.#waiting.add((wake = done)));
      this.#waiting.delete(wake);
    }
  }

  /** The characters of all events with this one. The last event always has room. */
  #countWith(event: PlatformEvent): number {
    if (isFinal(event)) return this.#characters;
    const characters = this.#characters + JSON.stringify(event).length;
    if (this.#events.length < MAX_EVENTS && characters <= MAX_CHARACTERS) return characters;
    const limit = `${MAX_EVENTS} events or ${MAX_CHARACTERS} characters of them`;
    throw new PlatformError('exhausted', `the plugin sent more than ${limit}; the plugin has to combine events`);
  }
}
