import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluationCollections, type EventDocument, eventKey } from '../../src/evaluation/records.js';
import { StoredLogs } from '../../src/server/stored-logs.js';
import { MemoryResultStore } from '../../src/store/memory/result-store.js';

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
