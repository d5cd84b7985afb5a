import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import {
  evaluationCollections,
  type EvaluationRecord,
  type EventDocument,
  eventKey,
} from '../../src/evaluation/records.js';
import { EvaluationReader } from '../../src/server/evaluation-reader.js';
import { Followers } from '../../src/server/followers.js';
import { StoredLogs } from '../../src/server/stored-logs.js';
import { MemoryResultStore } from '../../src/store/memory/open.js';
import { assertRefused, refusal } from '../rpc/support/refusal.js';

test(
  'a reader of an evaluation that another server runs gets the events that it adds',
  { timeout: 60_000 },
  async () => {
    const { events } = evaluationCollections(new MemoryResultStore());
    const add = (sequence: number, kind: 'note' | 'cancelled') => {
      const event: EventDocument['event'] = kind === 'note' ? { kind, level: 'info', message: 'slow' } : { kind };
      return events.insert({ ...eventKey('e', sequence), at: '2026-01-01T00:00:00.000Z', event });
    };
    await add(1, 'note');
    const { log, close } = await new StoredLogs(events).open('e');
    const first = log.read({ sequence: 0, measurings: 0 });
    assert.equal(first.events.length, 1);
    for (const [sequence, kind] of [
      [2, 'note'],
      [3, 'cancelled'],
    ] as const) {
      const before = { sequence: sequence - 1, measurings: 0 };
      await add(sequence, kind);
      await log.changed(before, new AbortController().signal);
      assert.deepEqual(
        log.read(before).events.map(({ event }) => event.kind),
        [kind],
      );
    }
    assert.ok(log.hasEnded);
    close();
  },
);

/** A reader of a store that has these evaluations, which no server runs. `open` is the number of logs that it has open. */
async function readerOf(...records: readonly Pick<EvaluationRecord, 'id' | 'submittedAt'>[]) {
  const collections = evaluationCollections(new MemoryResultStore());
  for (const record of records) {
    const others = { name: 'tiny', plugin: 'fake', state: 'cancelled', digest: '', attempts: 0 } as const;
    await collections.records.put({ ...others, changedAt: record.submittedAt, traceContext: {}, ...record });
    const event = { ...eventKey(record.id, 1), at: record.submittedAt, event: { kind: 'cancelled' } } as const;
    await collections.events.insert(event);
  }
  const logs = new StoredLogs(collections.events);
  let open = 0;
  const storedLogs: Pick<StoredLogs, 'open'> = {
    async open(...asked) {
      const opened = await logs.open(...asked);
      open++;
      const close = (): void => {
        open--;
        opened.close();
      };
      return { ...opened, close };
    },
  };
  const reader = new EvaluationReader({ collections, jobs: { has: () => false, get: () => undefined }, storedLogs });
  return { reader, open: () => open };
}

test('evaluations are listed from the newest to the oldest', async () => {
  const ids = ['first', 'third', 'second'];
  const days = ['2026-01-01', '2026-01-03', '2026-01-02'];
  const { reader } = await readerOf(...ids.map((id, at) => ({ id, submittedAt: `${days[at]}T00:00:00.000Z` })));
  assert.deepEqual(
    (await reader.list()).map(({ id }) => id),
    ['third', 'second', 'first'],
  );
});

test('a log is closed when its state or its events have been read', async () => {
  const { reader, open } = await readerOf({ id: 'an-evaluation', submittedAt: '2026-01-01T00:00:00.000Z' });
  assert.equal((await reader.get('an-evaluation')).last?.event.kind, 'cancelled');
  assert.equal(open(), 0);
  for await (const { event } of reader.follow('an-evaluation', 0, new AbortController().signal)) {
    assert.deepEqual([event.kind, open()], ['cancelled', 1]);
  }
  assert.equal(open(), 0);
});

test('a connection follows at most 32 evaluations at a time, whatever others follow, and all together 1000', () => {
  const followers = new Followers();
  const ends = Array.from({ length: 32 }, () => followers.add('one'));
  const full = refusal('exhausted', /^this connection follows 32 evaluations already; end one first$/);
  assert.throws(() => followers.add('one'), full);
  followers.add('another');
  ends[0]?.();
  followers.add('one');
  assert.throws(() => followers.add('one'), full);
  for (let count = 33; count < 1000; count++) ends.push(followers.add(`client-${count % 64}`));
  assert.throws(() => followers.add('new'), refusal('exhausted', /^1000 calls follow evaluations of this server/));
  ends.pop()?.();
  followers.add('new');
  assert.throws(() => followers.add('other'), { code: 'exhausted' });
});

test('a log that has ended is kept for later readers, until the evaluation moves', async () => {
  const { events } = evaluationCollections(new MemoryResultStore());
  let reads = 0;
  const find: typeof events.find = (match) => {
    reads++;
    return events.find(match);
  };
  const counting: Pick<typeof events, 'find' | 'get'> = { find, get: (key) => events.get(key) };
  const logs = new StoredLogs(counting as typeof events);
  const add = (id: string, event: EventDocument['event'], sequence = 1) =>
    events.insert({ ...eventKey(id, sequence), at: '2026-01-01T00:00:00.000Z', event });
  await add('ended', { kind: 'cancelled' });
  const first = await logs.open('ended');
  first.close();
  const second = await logs.open('ended');
  assert.deepEqual([second.log, reads, second.replaced.aborted], [first.log, 1, false]);
  second.close();
  logs.replace('ended');
  assert.notEqual((await logs.open('ended')).log, first.log);
  assert.equal(reads, 2);
  await add('open', { kind: 'note', level: 'info', message: 'at work' });
  const open = await logs.open('open');
  assert.equal(open.replaced.aborted, false);
  logs.replace('open');
  assert.equal(open.replaced.aborted, true, 'another log has its further events');
  assert.notEqual((await logs.open('open')).log, open.log);
  assert.equal(reads, 4);
  await add('open', { kind: 'cancelled' }, 2);
  open.close();
});

test('at most 32 logs are open at a time, and a reader that leaves does not wait', async () => {
  const { events } = evaluationCollections(new MemoryResultStore());
  const logs = new StoredLogs(events);
  const opened = await Promise.all(Array.from({ length: 32 }, (_, at) => logs.open(`evaluation-${at}`)));
  const leaving = new AbortController();
  const left = logs.open('evaluation-32', leaving.signal);
  leaving.abort();
  await assertRefused(left, 'cancelled');
  let isOpen = false;
  const waiting = logs.open('evaluation-33').then((log) => {
    isOpen = true;
    return log;
  });
  await setImmediate();
  assert.equal(isOpen, false);
  for (const { close } of opened) close();
  (await waiting).close();
});

test('the newest 1000 evaluations are listed, and several readers at the same time share one read', async () => {
  const collections = evaluationCollections(new MemoryResultStore());
  const at = (index: number): string => new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString();
  const order = Array.from({ length: 2101 }, (_, index) => (index * 1009) % 2101);
  const others = { name: 'tiny', plugin: 'fake', state: 'done', digest: '', attempts: 1, traceContext: {} } as const;
  await collections.records.putMany(
    order.map((index, n) => ({ ...others, id: `id-${n}`, submittedAt: at(index), changedAt: at(index) })),
  );
  let reads = 0;
  const records: Pick<typeof collections.records, 'find' | 'get'> = {
    find: (match) => {
      reads++;
      return collections.records.find(match);
    },
    get: (key) => collections.records.get(key),
  };
  const storedLogs = new StoredLogs(collections.events);
  const reader = new EvaluationReader({
    collections: { records: records as typeof collections.records },
    jobs: { has: () => false, get: () => undefined },
    storedLogs,
  });
  const [listed, same] = await Promise.all([reader.list(), reader.list()]);
  assert.deepEqual(
    listed.map(({ submittedAt }) => submittedAt),
    Array.from({ length: 1000 }, (_, index) => at(2100 - index)),
  );
  assert.deepEqual([same === listed, reads], [true, 1]);
  await reader.list();
  assert.equal(reads, 2);
});

test('an evaluation that is not there is not found, and its follower is told', async () => {
  const { reader, open } = await readerOf();
  const missing = refusal('not_found', /^there is no evaluation an-evaluation here; `mlmodelscope evaluations list`/);
  await assert.rejects(reader.get('an-evaluation'), missing);
  await assert.rejects(reader.follow('an-evaluation', 0, new AbortController().signal).next(), missing);
  for (const id of ['../../etc/passwd', 'short', 'x'.repeat(65), ' an-evaluation'])
    await assertRefused(reader.get(id), 'not_found', /^there is no evaluation of that id here/);
  assert.equal(open(), 0);
});
