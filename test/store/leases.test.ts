import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { collect } from '../../src/base/collect.js';
import { ownLife } from '../../src/base/process-life.js';
import { HOLDERS, newHolder, Leases } from '../../src/store/leases/leases.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { withChanges } from '../server/changing-store.js';
import { fast } from './fast-clock.js';

const LEASE_KIND = z.looseObject({ kind: z.string() });

describe('a holder of leases', () => {
  it('says in which process it lives, so that processes of this machine see its end', async () => {
    const holder = newHolder();
    assert.equal(holder.pid, process.pid);
    assert.deepEqual(holder.life, ownLife());
    const store = await openMemoryStore();
    await store.collection(HOLDERS).put(holder);
    assert.deepEqual(await collect(store.collection(HOLDERS).find({})), [holder]);
  });

  it('is one of several in a process', () => {
    assert.notEqual(newHolder().id, newHolder().id);
  });

  it('is never kept on this machine for a server that is away', () => {
    assert.equal(HOLDERS.isMomentary, true);
  });
});

describe('leases', () => {
  it('on work are in a collection of their own', async () => {
    const store = await openMemoryStore();
    const kinds = (['work', 'measurement', 'evaluation'] as const).map((kind) => new Leases(store, kind, fast));
    for (const leases of kinds) await leases.take(['one']);
    const collections = (await store.listCollections()).map(({ name }) => name).sort();
    assert.deepEqual(collections, ['lease_holders', 'leases', 'work_leases']);
    const shape = (await store.listCollections()).find(({ name }) => name === 'leases') ?? assert.fail();
    const held = await collect(store.collection({ ...shape, schema: LEASE_KIND }).find({}));
    assert.deepEqual(held.map(({ kind }) => kind).sort(), ['evaluation', 'measurement']);
    for (const leases of kinds) await leases.close();
  });

  it('have a holder only while one is taken', async () => {
    const store = await openMemoryStore();
    const first = new Leases(store, 'evaluation', fast);
    const second = new Leases(store, 'evaluation', fast);
    assert.equal(await second.holderOf('one'), undefined);
    await first.take(['one']);
    assert.equal((await second.holderOf('one'))?.pid, process.pid);
    await first.release('one');
    assert.equal(await second.holderOf('one'), undefined);
    await Promise.all([first.close(), second.close()]);
  });

  it('of others stay where a holder gives back one that it does not hold', async () => {
    const store = await openMemoryStore();
    const first = new Leases(store, 'evaluation', fast);
    const second = new Leases(store, 'evaluation', fast);
    await first.take(['one']);
    await second.take(['two']);
    await second.release('one');
    assert.deepEqual(await first.held(), new Set(['one']));
    await Promise.all([first.close(), second.close()]);
  });

  it('leave nothing in the store after their holder was closed', async () => {
    const store = await openMemoryStore();
    const leases = new Leases(store, 'evaluation', fast);
    await leases.take(['one']);
    await leases.close();
    assert.deepEqual(await collect(store.collection(HOLDERS).find({})), []);
  });

  it('that a holder has already are taken again', async () => {
    const store = await openMemoryStore();
    const leases = new Leases(store, 'evaluation', fast);
    const many = Array.from({ length: 20 }, (_, index) => `lease ${index}`);
    for (const names of [many, many, ['lease 1']]) assert.equal((await leases.take(names)).size, 0);
    await leases.close();
  });

  it('leave no holder where it is closed in the middle of a beat', async () => {
    const store = await openMemoryStore();
    let begin = (): void => {};
    let end = (): void => {};
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const ended = new Promise<void>((resolve) => (end = resolve));
    const slow = withChanges(store, async (work, document) => {
      if (document !== undefined && 'beat' in document && document.beat !== 0) {
        begin();
        await ended;
      }
      return work();
    });
    const leases = new Leases(slow, 'evaluation', fast);
    await leases.take(['one']);
    await begun;
    const closing = leases.close();
    await setImmediate();
    end();
    await closing;
    assert.deepEqual(await collect(store.collection(HOLDERS).find({})), []);
  });
});
