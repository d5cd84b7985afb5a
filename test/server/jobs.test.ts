import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { EvaluationCollections } from '../../src/evaluation/records.js';
import { Jobs } from '../../src/server/jobs.js';
import type { Ownership } from '../../src/server/ownership.js';

/** Jobs whose collections and owners are not used. */
function jobs(): Jobs {
  return new Jobs({
    collections: {} as EvaluationCollections,
    ownership: {} as Ownership,
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
