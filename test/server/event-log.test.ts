import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { PlatformError } from '../../src/base/errors.js';
import type { PlatformEvent } from '../../src/evaluation/event.js';
import { evaluationCollections, eventKey } from '../../src/evaluation/records.js';
import { EventLog, MAX_EVENTS } from '../../src/server/event-log.js';
import { MemoryResultStore } from '../../src/store/memory/open.js';
import { assertRefused } from '../rpc/support/refusal.js';

const ID = 'evaluation-1';
const START = { sequence: 0, measurings: 0 };
const DONE: PlatformEvent = { kind: 'done', resultJson: '{"answer":42}', partial: true };
const DONE_TO_READERS: PlatformEvent = { kind: 'done', partial: true };

const note = (message: string): PlatformEvent => ({ kind: 'note', level: 'info', message });
const measuring = (done: number): PlatformEvent => ({ kind: 'measuring', done, total: 9, label: 'brick' });

function documents() {
  return evaluationCollections(new MemoryResultStore()).events;
}

/** Whether a promise is settled as soon as everything that waits for nothing is done. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.then(() => (settled = true));
  await setImmediate();
  return settled;
}

const forever = new AbortController().signal;

describe('the log of an evaluation', { timeout: 60_000 }, () => {
  it('is empty at first', async () => {
    const log = await EventLog.open(ID, documents());
    assert.deepEqual([log.last, log.hasEnded, log.characters], [undefined, false, 0]);
    assert.deepEqual(log.read(START), { events: [], cursor: START });
  });

  it('has an event once if the answer of the store was lost and the event is added again, the last event too', async () => {
    const stored = documents();
    let isLost = false;
    const insert: typeof stored.insert = async (document) => {
      const isStored = await stored.insert(document);
      if (isLost) throw new PlatformError('unavailable', 'the answer is lost');
      return isStored;
    };
    const log = await EventLog.open(
      ID,
      new Proxy(stored, {
        get: (target, name) => {
          const value: unknown = name === 'insert' ? insert : Reflect.get(target, name);
          return typeof value === 'function' ? (value.bind(target) as unknown) : value;
        },
      }),
    );
    for (const event of [note('one'), DONE]) {
      isLost = true;
      await assertRefused(log.append(event), 'unavailable', /lost/);
      isLost = false;
      await log.append(event);
    }
    assert.deepEqual(
      log.read(START).events.map(({ sequence, event }) => [sequence, event]),
      [
        [1, note('one')],
        [2, DONE_TO_READERS],
      ],
    );
  });

  it('numbers its events from 1, in the order in which they were added, and has them when it is opened again', async () => {
    const stored = documents();
    const log = await EventLog.open(ID, stored);
    // Without waiting between them, as from a plugin that sends several.
    await Promise.all([log.append(note('one')), log.append(note('two')), log.append(DONE)]);
    await (await EventLog.open('evaluation-2', stored)).append(note('of another'));
    const { events, cursor } = log.read(START);
    assert.deepEqual(
      events.map(({ sequence, event }) => [sequence, event]),
      [
        [1, note('one')],
        [2, note('two')],
        [3, DONE_TO_READERS],
      ],
    );
    assert.deepEqual(cursor, { sequence: 3, measurings: 0 });
    for (const { at } of events) assert.equal(new Date(at).toISOString(), at);
    const again = await EventLog.open(ID, stored);
    assert.deepEqual(again.read(START), { events, cursor });
    assert.deepEqual(again.last, events[2]);
    assert.equal(log.characters, events.map((one) => JSON.stringify(one)).join('').length);
    assert.deepEqual([log.hasEnded, again.hasEnded], [true, true]);
    assert.deepEqual((await stored.get(eventKey(ID, 3)))?.event, DONE, 'the store keeps the result');
  });

  it('adds one event after another, however long the store takes for each', async () => {
    const stored = documents();
    let inserting = 0;
    const insert: typeof stored.insert = async (document) => {
      assert.equal(++inserting, 1);
      await setImmediate();
      inserting--;
      return stored.insert(document);
    };
    const slow: Pick<typeof stored, 'insert' | 'find'> = { insert, find: (match) => stored.find(match) };
    const log = await EventLog.open(ID, slow as typeof stored);
    await Promise.all(['one', 'two', 'three'].map((message) => log.append(note(message))));
    assert.deepEqual(
      log.read(START).events.map(({ event }) => event),
      [note('one'), note('two'), note('three')],
    );
  });

  it('has ended only with a final event', async () => {
    for (const [event, isEnd] of [
      [note('one'), false],
      [measuring(1), false],
      [{ kind: 'waiting', reason: 'busy' }, false],
      [{ kind: 'cancelled' }, true],
      [{ kind: 'failed', code: 'internal', message: 'boom' }, true],
      [DONE, true],
    ] as const) {
      const log = await EventLog.open(ID, documents());
      await log.append(event);
      assert.equal(log.hasEnded, isEnd, event.kind);
    }
  });

  it('can be read from any event on, also from one that is not there yet', async () => {
    const log = await EventLog.open(ID, documents());
    for (const message of ['one', 'two', 'three']) await log.append(note(message));
    const from = (sequence: number) => log.read({ sequence, measurings: 0 });
    for (const after of [0, 1, 2, 3]) {
      const { events, cursor } = from(after);
      assert.deepEqual(
        events.map(({ sequence }) => sequence),
        [1, 2, 3].slice(after),
      );
      assert.equal(cursor.sequence, 3);
    }
    assert.deepEqual(from(7), { events: [], cursor: { sequence: 7, measurings: 0 } });
  });

  it('keeps the latest progress in memory, with the number of the last event, until the end', async () => {
    const stored = documents();
    const log = await EventLog.open(ID, stored);
    await log.append(measuring(1));
    assert.deepEqual([log.last?.sequence, log.last?.event], [0, measuring(1)]);
    await log.append(note('one'));
    await log.append(measuring(2));
    await log.append(measuring(3));
    const { events, cursor } = log.read(START);
    assert.deepEqual(
      events.map(({ sequence, event }) => [sequence, event]),
      [
        [1, note('one')],
        [1, measuring(3)],
      ],
    );
    assert.equal(cursor.measurings, 3);
    assert.deepEqual(log.last, events[1]);
    assert.equal(new Date(log.last?.at ?? '').toISOString(), log.last?.at);
    assert.deepEqual(log.read(cursor).events, [], 'the same progress is told once');
    await log.append(note('two'));
    assert.deepEqual(
      log.read(cursor).events.map(({ event }) => event),
      [note('two')],
    );
    await log.append(measuring(3));
    assert.equal(log.last?.sequence, 2);
    assert.deepEqual(log.last?.event, measuring(3));
    await log.append(DONE);
    assert.deepEqual(log.last?.event, DONE_TO_READERS);
    assert.deepEqual(
      log.read({ sequence: 2, measurings: 0 }).events.map(({ event }) => event),
      [DONE_TO_READERS],
    );
    assert.equal((await EventLog.open(ID, stored)).read(START).events.length, 3);
  });

  it('wakes all readers that wait for an event or for progress, and leaves them when their signals abort', async () => {
    const log = await EventLog.open(ID, documents());
    const gone = new AbortController();
    const readers = [log.changed(START, forever), log.changed(START, forever), log.changed(START, gone.signal)];
    assert.deepEqual(await Promise.all(readers.map(isSettled)), [false, false, false]);
    gone.abort();
    assert.deepEqual(await Promise.all(readers.map(isSettled)), [false, false, true]);
    await log.append(measuring(1));
    await Promise.all(readers);
    const { cursor } = log.read(START);
    const next = log.changed(cursor, forever);
    assert.equal(await isSettled(next), false);
    await log.append(note('one'));
    await next;
    await log.changed(START, forever);
    await log.changed(cursor, AbortSignal.abort());
  });

  it('accepts 10,000 events and its end, and refuses one more', async () => {
    const stored = documents();
    for (let sequence = 1; sequence < MAX_EVENTS; sequence++) {
      const at = '2026-01-01T00:00:00.000Z';
      await stored.insert({ ...eventKey(ID, sequence), at, event: note('') });
    }
    const log = await EventLog.open(ID, stored);
    assert.equal(MAX_EVENTS, 10_000);
    await log.append(note('the last one'));
    for (let times = 0; times < 2; times++) await log.append(measuring(times));
    const asked = log.append(note('too much'));
    await assertRefused(asked, 'exhausted', /^the plugin sent more than 10000 events or 16777216 characters of them/);
    await log.append(DONE);
    assert.deepEqual([log.last?.sequence, log.hasEnded], [MAX_EVENTS + 1, true]);
  });

  it('accepts 16 MiB of events, and goes on with its end', async () => {
    const log = await EventLog.open(ID, documents());
    // One text in the store may have 20,000 characters; an event may have many.
    const percentiles = Array.from({ length: 100 }, () => ({ percentage: 50, reason: 'x'.repeat(20_000) }));
    const large: PlatformEvent = { kind: 'estimate', model: '', coverage: 1, percentiles };
    let left = 2 ** 24;
    const append = async (event: PlatformEvent): Promise<void> => {
      await log.append(event);
      left -= JSON.stringify(event).length;
    };
    while (left > 2 * JSON.stringify(large).length) await append(large);
    while (left > 20_000) await append(note('x'.repeat(10_000)));
    await append(note('x'.repeat(left - JSON.stringify(note('')).length)));
    assert.equal(left, 0);
    await assertRefused(log.append(note('')), 'exhausted', /more than 10000 events or 16777216 characters/);
    await log.append({ kind: 'cancelled' });
    assert.equal(log.hasEnded, true);
  });
});

describe('the log of an evaluation that another server has, too', { timeout: 60_000 }, () => {
  const at = '2026-01-01T00:00:00.000Z';

  it('goes on after the events that the previous server still added', async () => {
    const stored = documents();
    let asked = 0;
    const log = await EventLog.open(ID, stored, () => {
      asked++;
      return Promise.resolve(true);
    });
    await log.append(note('one'));
    assert.equal(asked, 0, 'ownership is read from the store');
    for (const sequence of [2, 3]) await stored.insert({ ...eventKey(ID, sequence), at, event: note('of the other') });
    const reader = log.changed({ sequence: 1, measurings: 0 }, forever);
    await log.append(note('two'));
    await reader;
    assert.deepEqual(
      log.read(START).events.map(({ sequence, event }) => [sequence, event]),
      [
        [1, note('one')],
        [2, note('of the other')],
        [3, note('of the other')],
        [4, note('two')],
      ],
    );
  });

  it('gets no event and no end of a server that has lost it', async () => {
    const stored = documents();
    let isOwn = true;
    const log = await EventLog.open(ID, stored, () => Promise.resolve(isOwn));
    await log.append(note('one'));
    isOwn = false;
    await assertRefused(log.append(DONE), 'unavailable', /^another server has this evaluation now/);
    await stored.insert({ ...eventKey(ID, 2), at, event: note('of the other') });
    await assertRefused(log.append(note('two')), 'unavailable', /another server has this evaluation/);
    assert.equal((await EventLog.open(ID, stored)).read(START).events.length, 2);
    isOwn = true;
    await log.append(note('after an error'));
    assert.equal(log.last?.sequence, 3);
  });

  it('gets nothing after the end that the other server gave it', async () => {
    const stored = documents();
    const log = await EventLog.open(ID, stored);
    await log.append(note('one'));
    await stored.insert({ ...eventKey(ID, 2), at, event: { kind: 'cancelled' } });
    await assertRefused(log.append(note('two')), 'unavailable', /another server has this evaluation/);
    assert.deepEqual(log.last, { sequence: 2, at, event: { kind: 'cancelled' } });
  });

  it('catches up with what the other server adds, without the result', async () => {
    const stored = documents();
    const log = await EventLog.open(ID, stored);
    await log.catchUp();
    assert.equal(log.last, undefined);
    await stored.insert({ ...eventKey(ID, 1), at, event: note('one') });
    await stored.insert({ ...eventKey(ID, 2), at, event: DONE });
    const waiting = log.changed(START, forever);
    await log.catchUp();
    await waiting;
    assert.deepEqual(log.read(START).events, [
      { sequence: 1, at, event: note('one') },
      { sequence: 2, at, event: DONE_TO_READERS },
    ]);
  });
});
