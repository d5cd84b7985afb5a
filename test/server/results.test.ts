import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { LoggedEvent, PlatformEvent } from '../../src/evaluation/event.js';
import { evaluationCollections, type EventDocument, eventKey } from '../../src/evaluation/records.js';
import { ResultCache } from '../../src/server/results.js';
import type { Collection } from '../../src/store/collection.js';
import { MemoryResultStore } from '../../src/store/memory/open.js';

const AT = '2026-01-01T00:00:00.000Z';

function done(resultJson: string): PlatformEvent & { readonly kind: 'done' } {
  return { kind: 'done', resultJson, partial: false };
}

function logged(sequence: number, at = AT): LoggedEvent {
  return { sequence, at, event: { kind: 'done', partial: false } };
}

/** A cache of results in a store, and the number of times that it read the store. */
function caching() {
  const { events } = evaluationCollections(new MemoryResultStore());
  let reads = 0;
  let reading = 0;
  let most = 0;
  const get: Collection<EventDocument>['get'] = async (key) => {
    reads++;
    most = Math.max(most, ++reading);
    const found = await events.get(key);
    await setImmediate();
    reading--;
    return found;
  };
  const counting: Pick<Collection<EventDocument>, 'get'> = { get };
  const cache = new ResultCache(counting as Collection<EventDocument>);
  const put = (evaluation: string, sequence: number, event: PlatformEvent) =>
    events.put({ ...eventKey(evaluation, sequence), at: AT, event });
  return { cache, put, reads: () => reads, most: () => most };
}

describe('the results of evaluations', { timeout: 60_000 }, () => {
  it('are read from the store once, for readers at the same time and for later ones', async () => {
    const { cache, put, reads } = caching();
    await put('a', 2, done('{"answer":"grün"}'));
    const both = await Promise.all([cache.open('a', logged(2)), cache.open('a', logged(2))]);
    for (const { close } of both) close();
    const { json } = await cache.open('a', logged(2));
    assert.equal(json?.toString(), '{"answer":"grün"}');
    for (const other of both) assert.equal(other.json, json, 'they share the same bytes');
    assert.equal(reads(), 1);
  });

  it('are read one at a time', async () => {
    const { cache, put, most } = caching();
    for (const id of ['a', 'b', 'c']) await put(id, 1, done(`"${id}"`));
    const opened = await Promise.all(['a', 'b', 'c'].map((id) => cache.open(id, logged(1))));
    assert.deepEqual(
      opened.map(({ json }) => json?.toString()),
      ['"a"', '"b"', '"c"'],
    );
    assert.equal(most(), 1);
  });

  it('are open for at most eight readers of different ones at the same time', async () => {
    const { cache, put } = caching();
    const ids = Array.from({ length: 9 }, (_, at) => `evaluation-${at}`);
    for (const id of ids) await put(id, 1, done('1'));
    const [first = assert.fail()] = await Promise.all(ids.slice(0, 8).map((id) => cache.open(id, logged(1))));
    let isOpen = false;
    const waiting = cache.open(ids[8] ?? '', logged(1)).then(() => (isOpen = true));
    for (let turn = 0; turn < 5; turn++) await setImmediate();
    assert.equal(isOpen, false);
    first.close();
    await waiting;
  });

  it('belong to one end of the evaluation', async () => {
    const { cache, put } = caching();
    await put('a', 1, done('1'));
    assert.equal((await cache.open('a', logged(1))).json?.toString(), '1');
    await put('a', 1, done('2'));
    const another = await cache.open('a', logged(1, '2026-01-02T00:00:00.000Z'));
    assert.equal(another.json?.toString(), '2');
  });

  it('are missing where the store lost them, and are looked for again', async () => {
    const { cache, put } = caching();
    for (const event of [undefined, { kind: 'cancelled' }, { kind: 'done', partial: false }] as const) {
      if (event !== undefined) await put('a', 1, event);
      const { json, close } = await cache.open('a', logged(1));
      assert.equal(json, undefined);
      close();
    }
    await put('a', 1, done('1'));
    assert.equal((await cache.open('a', logged(1))).json?.toString(), '1');
  });

  it('of 64 MiB together are kept', async () => {
    const { cache, put, reads } = caching();
    const size = 8 * 2 ** 20;
    const json = `"${'x'.repeat(size - 2)}"`;
    const read = async (id: string) => (await cache.open(id, logged(1))).close();
    const ids = Array.from({ length: 8 }, (_, at) => `evaluation-${at}`);
    for (const id of ids) await put(id, 1, done(json));
    await put('one-more', 1, done('1'));
    for (const id of [...ids, ...ids]) await read(id);
    assert.equal(reads(), 8);
    await read('one-more');
    await read('one-more');
    assert.equal(reads(), 9);
    // The one that was read the longest time ago made room.
    await read('evaluation-0');
    assert.equal(reads(), 10);
  });
});
