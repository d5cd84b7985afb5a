import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { evaluationCollections } from '../../src/evaluation/records.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import type { ResultStore } from '../../src/store/result-store.js';
import { until } from '../support/until.js';
import { AGENT, directoryWith, eventsOf, leaveAtWork, openPlatform, submitted } from './fake-platform.js';
import { never, withChanges } from './changing-store.js';
import { obedient, patient, scripted, untilStopped } from './scripted-evaluation.js';

/** Against hanging only, for all of a suite's tests together: each platform starts a thread. */
const deadline = { timeout: 300_000 };
const ID = 'evaluation-1';

/** A store whose server is killed this many changes after the last event. */
function killedAfter(changes: number, store: ResultStore): ResultStore {
  let left = Infinity;
  return withChanges(store, async (work, document) => {
    if (left-- <= 0) return never();
    const done = await work();
    if (document !== undefined && 'event' in document && JSON.stringify(document.event).includes('"kind":"done"')) {
      left = changes;
    }
    return done;
  });
}

describe('a server that is started again', deadline, () => {
  it('continues evaluations that have not ended', async (t) => {
    const store = await openMemoryStore();
    const before = await openPlatform({ store });
    before.attach(
      scripted(async function* (_request, context) {
        yield { kind: 'planned', summary: 'much', known: 0, toMeasure: 9 };
        await untilStopped(context);
      }),
    );
    await before.platform.submit(ID, submitted());
    await before.platform.submit('evaluation-2', submitted());
    await until(async () => (await before.platform.get(ID)).last?.event.kind === 'planned');
    before.platform.close();

    const after = await openPlatform({ store }, { resume: true });
    t.after(() => after.platform.close());
    assert.deepEqual(
      (await after.platform.list()).map(({ state }) => state),
      ['queued', 'queued'],
    );
    after.attach(obedient);
    const kinds = (await eventsOf(after.platform, ID)).map(({ kind }) => kind);
    // It waits for its plugin, and is first again, as it was submitted first.
    assert.deepEqual(kinds, ['started', 'planned', 'waiting', 'started', 'done']);
    assert.equal((await eventsOf(after.platform, 'evaluation-2')).at(-1)?.kind, 'done');
  });

  for (const changes of [0, 1]) {
    it(`ends an evaluation whose server was killed ${changes} changes after the last event, and keeps no submission`, async (t) => {
      const store = await openMemoryStore();
      const before = await openPlatform({ store: killedAfter(changes, store) });
      t.after(() => before.platform.close());
      before.attach(obedient);
      await before.platform.submit(ID, submitted());
      await eventsOf(before.platform, ID);
      // A client that has read the end sees that it has ended, even if the store is slow.
      assert.equal((await before.platform.get(ID)).record.state, 'done');
      assert.equal((await before.platform.list())[0]?.state, 'done');
      before.platform.close();

      const after = await openPlatform({ store }, { resume: true });
      t.after(() => after.platform.close());
      const { records, parts, events } = evaluationCollections(store);
      assert.equal((await records.get({ id: ID }))?.state, 'done');
      for await (const { part } of parts.find({})) assert.fail(`part ${part} stays`);
      let ends = 0;
      for await (const { event } of events.find({ evaluation: ID })) if (event.kind === 'done') ends++;
      assert.equal(ends, 1);
    });
  }

  it('waits for an agent that comes back', async (t) => {
    const store = await openMemoryStore();
    await leaveAtWork(store, ID);

    const agents = directoryWith();
    const after = await openPlatform({ store, agents, limits: { retryMs: 20 } }, { resume: true });
    t.after(() => after.platform.close());
    after.attach(obedient);
    await until(async () => JSON.stringify((await after.platform.get(ID)).last).includes('no agent is registered'));
    agents.register(AGENT);
    assert.equal((await eventsOf(after.platform, ID)).at(-1)?.kind, 'done');
  });

  it('waits for one of many agents that do not fit, even if the list of reasons is long', async (t) => {
    const agents = directoryWith(...Array.from({ length: 800 }, (_, port) => `10.0.0.1:${port + 1}`));
    const store = await openMemoryStore();
    await leaveAtWork(store, ID, submitted({ hardware: { cores: { min: 4 } } }));

    for (const { address } of agents.list()) agents.register({ ...AGENT, address, cores: 2 });
    const after = await openPlatform({ store, agents, limits: { retryMs: 20 } }, { resume: true });
    t.after(() => after.platform.close());
    after.attach(obedient);
    await until(async () => JSON.stringify((await after.platform.get(ID)).last).includes('no agent meets'));
    agents.register(AGENT);
    assert.equal((await eventsOf(after.platform, ID)).at(-1)?.kind, 'done');
  });

  it('gives up if no agent comes back', async (t) => {
    const agents = directoryWith(AGENT.address);
    const limits = { retryMs: 10, waitForAgentMs: 50 };
    const { platform, attach } = await openPlatform({ store: await openMemoryStore(), agents, limits });
    t.after(() => platform.close());
    attach(patient);
    await platform.submit('evaluation-0', submitted());
    await platform.submit(ID, submitted());
    agents.unregister(agents.list()[0]?.id ?? '');
    await platform.cancel('evaluation-0');
    const last = (await eventsOf(platform, ID)).at(-1);
    assert.ok(last?.kind === 'failed' && last.code === 'unavailable');
    assert.match(last.message, /no agent is registered; start one/);
  });
});
