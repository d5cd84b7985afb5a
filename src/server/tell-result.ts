import type { LoggedEvent } from '../evaluation/event.js';
import { headOfDone, toWireLogged, toWireResultPart } from '../evaluation/wire/event-wire.js';
import type { Event } from '../generated/mlmodelscope/evaluation/v1/event.js';
import { LargeAnswer } from '../rpc/large-answer.js';
import type { Platform } from './platform.js';

const PART = 128 * 1024;

/** The end of the part that begins at an offset: between two characters. */
function endOfPart(json: Buffer, start: number): number {
  let end = Math.min(start + PART, json.length);
  while (((json[end] ?? 0) & 0xc0) === 0x80) end++;
  return end;
}

type Open = (signal: AbortSignal) => ReturnType<Platform['openResult']>;

const NOTHING = Buffer.alloc(0);

/** @param before the answer's fields before the event, in wire format @param field the number of the event's field */
export function wholeResult(logged: LoggedEvent, open: Open, field: number, before = new Uint8Array()): LargeAnswer {
  return new LargeAnswer(async (signal) => {
    const { json = NOTHING, close } = await open(signal);
    return { head: Buffer.concat([before, headOfDone(logged, json.length, field)]), body: json, close };
  });
}

/** Sends the result that comes with an event, and then the event. Between two parts, it holds no part in memory. */
export async function tellInParts(
  logged: LoggedEvent,
  open: Open,
  send: (event: Event) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  for (let start = 0; ;) {
    const { json = NOTHING, close } = await open(signal);
    const end = endOfPart(json, start);
    const part = json.toString('utf8', start, end);
    close();
    if (part === '') break;
    await send(toWireResultPart(logged, part));
    start = end;
  }
  await send(toWireLogged(logged));
}
