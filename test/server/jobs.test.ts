import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import {
  type EvaluationCollections,
  evaluationCollections,
  type EvaluationRecord,
  eventKey,
} from '../../src/evaluation/records.js';
import type { EvaluationJob } from '../../src/server/job.js';
import { type EvaluationLeases, Jobs } from '../../src/server/jobs.js';
import { MemoryResultStore } from '../../src/store/memory/open.js';
import { assertRefused } from '../rpc/support/refusal.js';
import { takenByAnother } from './fake-platform.js';
import { until } from '../support/until.js';

/** Jobs whose collections and owners are not used. */
function jobs(): Jobs {
  return new Jobs({
    collections: {} as EvaluationCollections,
    leases: {} as EvaluationLeases,
    dispatcher: { add: () => assert.fail(), abandon: () => assert.fail() },
    storedLogs: { replace: () => assert.fail() },
  });
}

test('work on one evaluation runs one after another, also what comes while the second runs', async () => {
  const alone = jobs();
  const order: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) =>
    alone.runAlone('evaluation', async () => {
      order.push(`${name} begins`);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      order.push(`${name} ends`);
    });
  const first = work('first');
  const second = work('second');
  await setImmediate();
  ends.get('first')?.();
  await first;
  await setImmediate();
  const third = work('third');
  await setImmediate();
  assert.deepEqual(order, ['first begins', 'first ends', 'second begins']);
  ends.get('second')?.();
  await second;
  await setImmediate();
  ends.get('third')?.();
  await third;
  assert.deepEqual(order.slice(3), ['second ends', 'third begins', 'third ends']);
});

test('work on another evaluation does not wait', async () => {
  const alone = jobs();
  const waiting = new AbortController();
  const first = alone.runAlone(
    'one',
    () => new Promise<void>((end) => waiting.signal.addEventListener('abort', () => end())),
  );
  assert.equal(await alone.runAlone('another', () => Promise.resolve('done')), 'done');
  waiting.abort();
  await first;
});

const AT = '2026-01-01T00:00:00.000Z';

function recordOf(id: string, changes: Partial<EvaluationRecord> = {}): EvaluationRecord {
  const others = { name: 'tiny', plugin: 'fake', state: 'queued', digest: '', attempts: 0, traceContext: {} } as const;
  return { ...others, id, submittedAt: AT, changedAt: AT, ...changes };
}

/** Jobs of a store that a server owns, except for those of `others`. */
function owning(others: ReadonlySet<string> = new Set()) {
  const collections = evaluationCollections(new MemoryResultStore());
  const asked: (readonly string[])[] = [];
  const released: string[] = [];
  const added: EvaluationJob[] = [];
  const abandoned: string[] = [];
  const replaced: string[] = [];
  const leases: EvaluationLeases = {
    take: (ids) => {
      asked.push(ids);
      return takenByAnother(ids.filter((id) => others.has(id)));
    },
    held: () => Promise.resolve(new Set(added.map(({ id }) => id).filter((id) => !others.has(id)))),
    release: (id = '') => Promise.resolve(void released.push(id)),
  };
  const jobs = new Jobs({
    collections,
    leases,
    dispatcher: { add: (job) => void added.push(job), abandon: ({ id }) => void abandoned.push(id) },
    storedLogs: { replace: (id) => void replaced.push(id) },
  });
  return { jobs, collections, asked, released, added, abandoned, replaced };
}

test('a server adopts what has not ended and no other server runs, in the order of the submissions', async () => {
  const { jobs, collections, asked, added, replaced, released } = owning(new Set(['of-another']));
  const { records, events } = collections;
  const later = '2026-01-02T00:00:00.000Z';
  for (const record of [
    recordOf('a-later', { submittedAt: later }),
    recordOf('b-first', { state: 'running', attempts: 1 }),
    recordOf('of-another', { submittedAt: '2026-01-03T00:00:00.000Z' }),
    recordOf('not-ours', { plugin: 'other' }),
    recordOf('has-ended', { state: 'failed' }),
  ])
    await records.put(record);
  await jobs.adoptAll('its server has ended', ({ plugin }) => plugin === 'fake');
  assert.deepEqual(asked, [['b-first', 'a-later', 'of-another']]);
  assert.deepEqual(
    added.map(({ id, record }) => [id, record.state]),
    [
      ['b-first', 'queued'],
      ['a-later', 'queued'],
    ],
  );
  assert.deepEqual([replaced, jobs.size, released], [['b-first', 'a-later'], 2, []]);
  const told: unknown[] = [];
  for await (const { evaluation, event } of events.find({})) told.push([evaluation, event.kind]);
  assert.deepEqual(told, [['b-first', 'waiting']], 'the one that ran is told why it waits');
  assert.match(JSON.stringify(added[0]?.log.last?.event), /"its server has ended; everything measured so far is kept/);
  assert.equal((await records.get({ id: 'b-first' }))?.state, 'queued');
  await jobs.adopt(['a-later', 'b-first'], 'again');
  assert.deepEqual([asked.length, added.length], [1, 2]);
});

test('a server gives back at once what has ended, and ends what has its last event', async () => {
  const { jobs, collections, released, added } = owning();
  const { records, events, parts } = collections;
  await records.put(recordOf('has-ended', { state: 'done' }));
  await records.put(recordOf('last-event', { state: 'running', attempts: 1 }));
  await parts.put({ evaluation: 'last-event', part: '0000', content: '' });
  await events.insert({ ...eventKey('last-event', 1), at: AT, event: { kind: 'cancelled' } });
  await jobs.adopt(['unknown-one', 'has-ended', 'last-event'], 'its server has ended');
  assert.deepEqual([released, added.length, jobs.size], [['unknown-one', 'has-ended', 'last-event'], 0, 0]);
  assert.equal((await records.get({ id: 'last-event' }))?.state, 'cancelled');
  assert.equal(await parts.count(), 0, 'the submission is not needed any more');
});

test('a job is there until its end, and is then given back', async () => {
  const { jobs, released, added, collections } = owning();
  await jobs.begin(recordOf('evaluation-1'));
  assert.deepEqual([jobs.size, jobs.has('evaluation-1'), jobs.get('evaluation-1')], [1, true, added[0]]);
  await added[0]?.finish({ kind: 'cancelled' });
  await until(() => released.length === 1);
  assert.deepEqual([jobs.size, released, jobs.has('evaluation-1')], [0, ['evaluation-1'], false]);
  assert.equal((await collections.records.get({ id: 'evaluation-1' }))?.state, 'cancelled');
});

test('a server drops what another server has taken over, and keeps the rest', async () => {
  const others = new Set<string>();
  const { jobs, abandoned, added } = owning(others);
  for (const id of ['evaluation-1', 'evaluation-2']) await jobs.begin(recordOf(id));
  await jobs.abandonLost();
  assert.deepEqual(abandoned, []);
  others.add('evaluation-1');
  await jobs.abandonLost();
  assert.deepEqual([abandoned, jobs.has('evaluation-1'), jobs.has('evaluation-2')], [['evaluation-1'], false, true]);
  await assertRefused(added[0]?.start() ?? assert.fail(), 'unavailable', /^another server has this/);
  assert.deepEqual(await added[1]?.start(), { evaluationId: 'evaluation-2', attempt: 1 });
  jobs.clear();
  assert.equal(jobs.size, 0);
});

test('a caller that leaves does not wait for the work of another one', async () => {
  const alone = jobs();
  let end = (): void => {};
  const first = alone.runAlone('evaluation', () => new Promise<void>((resolve) => (end = resolve)));
  const leaving = new AbortController();
  const second = alone.runAlone('evaluation', () => assert.fail(), leaving.signal);
  leaving.abort();
  await assertRefused(second, 'cancelled');
  end();
  await first;
});
