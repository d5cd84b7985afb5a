import assert from 'node:assert/strict';
import { test } from 'node:test';
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

test('a connection follows at most 32 evaluations at a time, whatever others follow', () => {
  const followers = new Followers();
  const ends = Array.from({ length: 32 }, () => followers.add('one'));
  assert.throws(() => followers.add('one'), { code: 'exhausted' });
  followers.add('another');
  ends[0]?.();
  followers.add('one');
  assert.throws(() => followers.add('one'), { code: 'exhausted' });
});
