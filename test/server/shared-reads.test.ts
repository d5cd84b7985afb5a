import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { SharedReads } from '../../src/server/shared-reads.js';
import { assertRefused } from '../rpc/support/refusal.js';

/** Reads, each of which gives its number, and the signals of their ends. */
function counted() {
  const ends: AbortSignal[] = [];
  const read = (end: AbortSignal): Promise<number> => Promise.resolve(ends.push(end));
  return { ends, read, isOpen: () => ends.map(({ aborted }) => !aborted) };
}

test('readers of the same thing share one read, until the last one has closed it', async () => {
  const reads = new SharedReads<number>(8);
  const { read, isOpen } = counted();
  const [one, other] = await Promise.all([reads.open('a', read), reads.open('a', read)]);
  const later = await reads.open('a', read);
  assert.deepEqual([one.value, other.value, later.value], [1, 1, 1]);
  one.close();
  one.close();
  other.close();
  assert.deepEqual([isOpen(), later.end.aborted], [[true], false]);
  later.close();
  assert.deepEqual([isOpen(), later.end.aborted], [[false], true]);
  assert.equal((await reads.open('a', read)).value, 2);
});

test('while as many things as allowed are open, readers of others wait, and those of open ones do not', async () => {
  const reads = new SharedReads<number>(2);
  const { read } = counted();
  const a = await reads.open('a', read);
  const b = await reads.open('b', read);
  let isOpen = false;
  const waiting = reads.open('c', read).then((opened) => {
    isOpen = true;
    return opened;
  });
  const again = await reads.open('a', read);
  await setImmediate();
  assert.equal(isOpen, false);
  again.close();
  await setImmediate();
  assert.equal(isOpen, false, 'a has another reader');
  a.close();
  assert.equal((await waiting).value, 3);
  b.close();
});

test('a reader that leaves while it waits gets the reason, and takes no place', async () => {
  const reads = new SharedReads<number>(1);
  const { read } = counted();
  const first = await reads.open('a', read);
  const leaving = new AbortController();
  const left = reads.open('b', read, { signal: leaving.signal });
  leaving.abort();
  await assertRefused(left, 'cancelled');
  first.close();
  assert.equal((await reads.open('c', read)).value, 2);
});

test('readers that waited for the same thing share one read, and one place', async () => {
  const reads = new SharedReads<number>(1);
  const { read } = counted();
  const first = await reads.open('a', read);
  const waiting = [reads.open('b', read), reads.open('b', read)];
  first.close();
  const [one] = waiting;
  (await one)?.close();
  const opened = await Promise.all(waiting);
  for (const { close } of opened) close();
  const places = new SharedReads<number>(2);
  const both = [await places.open('x', read), await places.open('y', read)];
  const same = [places.open('z', read), places.open('z', read)];
  for (const { close } of both) close();
  const values = (await Promise.all(same)).map(({ value }) => value);
  assert.equal(values[0], values[1]);
  assert.equal((await places.open('w', read)).value, (values[0] ?? 0) + 1, 'there is a place for another one');
});

test('a read that fails is the error of all its readers, and is tried again for later ones', async () => {
  const reads = new SharedReads<number>(1);
  const failing = (): Promise<number> => Promise.reject(new Error('the store is away'));
  const both = await Promise.allSettled([reads.open('a', failing), reads.open('a', failing)]);
  for (const { status } of both) assert.equal(status, 'rejected');
  assert.equal((await reads.open('a', counted().read)).value, 1);
});

test('what is replaced is read anew, while its earlier readers still hold their place', async () => {
  const reads = new SharedReads<number>(2);
  const { read, isOpen } = counted();
  reads.replace('a');
  const before = await reads.open('a', read);
  reads.replace('a');
  assert.deepEqual([before.end.aborted, isOpen()], [true, [false]]);
  const after = await reads.open('a', read);
  assert.equal(after.value, 2);
  before.close();
  assert.equal((await reads.open('a', read)).value, 2, 'the earlier reader closed only its own read');
});
