import { isDeepStrictEqual } from 'node:util';
import { isFinal, type LoggedEvent } from '../../src/evaluation/event.js';
import { evaluationCollections } from '../../src/evaluation/records.js';
import { openEmbeddedStore } from '../../src/store/embedded/open.js';
import { withWholeStore } from './store.js';

/** Events that have a number of their own. */
function counted(events: readonly LoggedEvent[]): readonly LoggedEvent[] {
  return events.filter(({ event }) => event.kind !== 'measuring');
}

/** The content of an event: a field without a value is the same as none. */
function said(event: LoggedEvent | undefined): unknown {
  return event && JSON.parse(JSON.stringify(event));
}

/** @throws where the events are not those of an evaluation that ended once, done and complete */
export function assertEndsOnce(events: readonly LoggedEvent[]): void {
  const story = counted(events);
  const told = story.map(({ sequence, event }) => `${sequence} ${event.kind}`).join(', ');
  if (story.some(({ sequence }, index) => sequence !== index + 1)) throw new Error(`an event is missing: ${told}`);
  const ends = story.filter(({ event }) => isFinal(event));
  if (ends.length !== 1) throw new Error(`${ends.length} final events instead of one: ${told}`);
  const last = story.at(-1)?.event;
  if (last?.kind === 'failed') throw new Error(`the evaluation failed: ${last.message}`);
  if (last?.kind !== 'done' || last.partial) throw new Error(`the evaluation is not done: ${told}`);
  const estimate = story.findLast(({ event }) => event.kind === 'estimate')?.event;
  if (estimate?.kind !== 'estimate' || estimate.coverage < 1) throw new Error('not everything was measured');
}

/** The stored events of an evaluation, after its server has ended. @throws where anything in the store is damaged */
export function storedEvents(folder: string, id: string): Promise<readonly LoggedEvent[]> {
  const open = openEmbeddedStore.bind(undefined, folder);
  return withWholeStore(open, async (store) => {
    const { events, records, parts, arrivals } = evaluationCollections(store);
    const stored: LoggedEvent[] = [];
    for await (const { sequence, at, event } of events.find({ evaluation: id })) {
      stored.push({ sequence: Number(sequence), at, event });
    }
    const record = await records.get({ id });
    if (record?.state !== 'done') throw new Error(`the evaluation is ${record?.state ?? 'not there'} in the store`);
    for await (const { evaluation, part } of parts.find({})) {
      throw new Error(`part ${part} of the submission ${evaluation} remains`);
    }
    for await (const { evaluation } of arrivals.find({})) throw new Error(`${evaluation} is still being stored`);
    return stored;
  });
}

/** @throws where the events that a follower received are not the stored ones */
export function assertTold(told: readonly LoggedEvent[], stored: readonly LoggedEvent[]): void {
  const theirs = counted(told);
  const ours = counted(stored);
  const differs = theirs.findIndex((event, index) => !isDeepStrictEqual(said(event), said(ours[index])));
  if (differs >= 0 || theirs.length !== ours.length) {
    const [first, second] = [theirs[differs], ours[differs]].map((event) => JSON.stringify(event));
    throw new Error(`a follower received ${theirs.length} events of ${ours.length}; ${first} instead of ${second}`);
  }
}
