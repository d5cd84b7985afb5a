import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PlatformError } from '../../src/base/errors.js';
import { evaluationCollections } from '../../src/evaluation/records.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import type { ResultStore } from '../../src/store/result-store.js';
import { assertRefused } from '../rpc/support/refusal.js';
import { until } from '../support/until.js';
import { full, never, withChanges } from './changing-store.js';
import { eventsOf, openPlatform, submitted } from './fake-platform.js';
import { obedient } from './scripted-evaluation.js';

/** Against hanging only, for all of a suite's tests together: each platform starts a thread. */
const deadline = { timeout: 300_000 };
const ID = 'evaluation-1';

interface Counted {
  readonly store: ResultStore;
  /** Changes that were tried. */
  readonly tried: () => number;
}

/** A store that makes the first `changes` changes, and calls `then` instead of each later one. */
function after(changes: number, store: ResultStore, then: () => Promise<unknown>): Counted {
  let tried = 0;
  const counting = withChanges(store, (work) => (++tried <= changes ? work() : then()));
  return { store: counting, tried: () => tried };
}

/** The ids and numbers of all stored parts of submissions, and the ids of submissions that are being stored. */
async function halves(store: ResultStore): Promise<readonly string[]> {
  const { parts, arrivals } = evaluationCollections(store);
  const ids: string[] = [];
  for await (const { evaluation, part } of parts.find({})) ids.push(`${evaluation} ${part}`);
  for await (const { evaluation } of arrivals.find({})) ids.push(evaluation);
  return ids;
}

describe('a submission that is not stored completely', deadline, () => {
  // The changes: its arrival, the parts of an earlier attempt, one part or two, its record.
  for (const changes of [1, 2, 3, 4]) {
    it(`leaves nothing behind if the server is killed after ${changes} changes, and can be submitted again`, async (t) => {
      const store = await openMemoryStore();
      const killed = after(changes, store, never);
      const before = await openPlatform({ store: killed.store });
      t.after(() => before.platform.close());
      before.attach(obedient);
      await until(() => before.platform.plugins().length > 0);
      void before.platform.submit(ID, submitted());
      await until(() => killed.tried() > changes);
      before.platform.close();

      const next = await openPlatform({ store }, { resume: true });
      t.after(() => next.platform.close());
      const isTaken = (await evaluationCollections(store).records.get({ id: ID })) !== undefined;
      assert.deepEqual(await halves(store), isTaken ? [`${ID} 0000`] : []);
      next.attach(obedient);
      await until(() => next.platform.plugins().length > 0);
      await next.platform.submit(ID, submitted());
      assert.equal((await eventsOf(next.platform, ID)).at(-1)?.kind, 'done');
      assert.deepEqual(await halves(store), []);
    });
  }

  it('leaves nothing behind if the store fails, and another submission may have its id', async (t) => {
    const store = await openMemoryStore();
    let failing = true;
    const flaky = withChanges(store, (work, document) => {
      if (failing && document !== undefined && 'digest' in document) return full();
      return work();
    });
    const { platform, attach } = await openPlatform({ store: flaky });
    t.after(() => platform.close());
    attach(obedient);
    await until(() => platform.plugins().length > 0);
    await assertRefused(platform.submit(ID, submitted()), 'storage', /the disk is full/);
    assert.deepEqual(await halves(store), []);
    failing = false;
    await platform.submit(ID, submitted({ threads: 2 }));
    assert.equal((await eventsOf(platform, ID)).at(-1)?.kind, 'done');
  });

  it('has no part of an earlier, larger submission under the same id', async (t) => {
    const store = await openMemoryStore();
    const { platform, attach } = await openPlatform({ store });
    t.after(() => platform.close());
    const { parts } = evaluationCollections(store);
    await parts.put({ evaluation: ID, part: '0001', content: Buffer.from(submitted()).toString('base64') });
    attach(obedient);
    await until(() => platform.plugins().length > 0);
    await platform.submit(ID, submitted());
    assert.equal((await eventsOf(platform, ID)).at(-1)?.kind, 'done');
  });

  it('is run nevertheless if the store fails as soon as it has the record', async (t) => {
    const store = await openMemoryStore();
    let failing = false;
    const collectionOf = store.collection.bind(store);
    store.collection = (definition) => {
      const documents = collectionOf(definition);
      if (definition.name !== 'evaluation_events') return documents;
      const find = documents.find.bind(documents);
      documents.find = (match) => {
        if (!failing) return find(match);
        failing = false;
        throw new PlatformError('storage', 'the database is away');
      };
      return documents;
    };
    const { platform, attach } = await openPlatform({ store });
    t.after(() => platform.close());
    attach(obedient);
    await until(() => platform.plugins().length > 0);
    failing = true;
    await assertRefused(platform.submit(ID, submitted()), 'storage', /the database is away/);
    await platform.submit(ID, submitted());
    assert.equal((await eventsOf(platform, ID)).at(-1)?.kind, 'done');
  });
});
