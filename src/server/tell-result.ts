import type { Event } from '../generated/mlmodelscope/evaluation/v1/event.js';
import type { LoggedEvent } from '../evaluation/event.js';
import { toWireLogged, toWireResultPart } from '../evaluation/wire/event-wire.js';
import { Places } from './places.js';
import type { Platform } from './platform.js';

/** Characters of a part of a result. */
const PART = 128 * 1024;

/** Most readers that get whole results at a time, of up to 12 MiB each. */
const WHOLE_AT_ONCE = 8;

/** The end of the part that begins at an offset: between two characters, not within a pair of code units. */
function endOfPart(text: string, start: number): number {
  const end = Math.min(start + PART, text.length);
  const isHalf = end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
  return isHalf ? end + 1 : end;
}

type Send = (event: Event) => Promise<void>;

/** Gives readers the results of evaluations: in parts if they ask for parts, else whole to a few of them at a time. */
export class ResultTeller {
  readonly #places = new Places(WHOLE_AT_ONCE);

  constructor(private readonly platform: Pick<Platform, 'result'>) {}

  /** Passes an event with its result to `use`. At most {@link WHOLE_AT_ONCE} calls do so at a time; others wait. */
  async whole<T>(id: string, logged: LoggedEvent, use: (event: Event) => Promise<T>, signal: AbortSignal): Promise<T> {
    const leave = await this.#places.take({ signal });
    try {
      const resultJson = await this.platform.result(id, logged);
      const { event } = logged;
      return await use(toWireLogged(event.kind === 'done' ? { ...logged, event: { ...event, resultJson } } : logged));
    } finally {
      leave();
    }
  }

  /** Sends the result that comes with an event, and then the event. Between two parts, it holds no part in memory. */
  async inParts(id: string, logged: LoggedEvent, send: Send): Promise<void> {
    for (let start = 0; ;) {
      const result = (await this.platform.result(id, logged)) ?? '';
      if (start >= result.length) break;
      const end = endOfPart(result, start);
      await send(toWireResultPart(logged, result.slice(start, end)));
      start = end;
    }
    await send(toWireLogged(logged));
  }
}
