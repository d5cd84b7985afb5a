import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Clock } from '../../src/base/clock.js';
import { isFinal, type PlatformEvent } from '../../src/evaluation/event.js';
import { evaluationCollections } from '../../src/evaluation/records.js';
import { startServer } from '../../src/server/server.js';
import { Leases } from '../../src/store/leases/leases.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import type { ResultStore } from '../../src/store/result-store.js';
import { refusal } from '../rpc/support/refusal.js';
import { fast, suspendable } from '../store/fast-clock.js';
import { until } from '../support/until.js';
import { AGENT, attachPlugin, directoryWith, eventsOf, LOADER, openPlatform, submitted } from './fake-platform.js';
import { obedient, patient, scripted, untilStopped } from './scripted-evaluation.js';

/** Against hanging only, for all of a suite's tests together: each platform starts a thread. */
const deadline = { timeout: 300_000 };
const ID = 'evaluation-1';

/** One of the servers of a store. */
async function server(
  t: TestContext,
  store: ResultStore,
  { clock = fast, watchMs = 20 }: { readonly clock?: Clock; readonly watchMs?: number } = {},
) {
  const leases = new Leases(store, 'evaluation', clock);
  const opened = await openPlatform({ store, leases, limits: { watchMs, retryMs: 20 } }, { resume: true });
  t.after(async () => {
    opened.platform.close();
    await leases.close();
  });
  return opened;
}

/** The stored events and the stored state of the evaluation. */
async function storedOf(store: ResultStore) {
  const { events, records } = evaluationCollections(store);
  const stored: PlatformEvent[] = [];
  for await (const { sequence, event } of events.find({ evaluation: ID })) {
    assert.equal(Number(sequence), stored.push(event));
  }
  return { events: stored, state: (await records.get({ id: ID }))?.state };
}

describe('several servers of one store', deadline, () => {
  it('run an evaluation on one of them, and report it to the clients of all', async (t) => {
    const store = await openMemoryStore();
    const one = await server(t, store);
    const other = await server(t, store);
    let go = (): void => {};
    const going = new Promise<void>((resolve) => (go = resolve));
    let runs = 0;
    const evaluation = scripted(async function* () {
      runs++;
      yield { kind: 'planned', summary: 'much', known: 0, toMeasure: 9 };
      await going;
      yield { kind: 'done', result: { answer: 42 }, partial: false };
    });
    one.attach(evaluation);
    other.attach(evaluation);
    await until(() => [one, other].every(({ platform }) => platform.plugins().length > 0));
    await one.platform.submit(ID, submitted());
    const story = eventsOf(other.platform, ID);
    await until(async () => (await other.platform.get(ID)).last?.event.kind === 'planned');
    assert.deepEqual((await other.platform.submit(ID, submitted())).id, ID);
    go();
    const told = await story;
    assert.deepEqual(told, await eventsOf(one.platform, ID));
    assert.deepEqual(
      told.map(({ kind }) => kind),
      ['started', 'planned', 'done'],
    );
    const last = told.at(-1);
    assert.equal(last?.kind === 'done' && last.resultJson, '{"answer":42}');
    await until(async () => (await other.platform.list())[0]?.state === 'done');
    assert.equal(runs, 1);
  });

  it('accept an evaluation once if it is submitted to all of them at the same time', async (t) => {
    const store = await openMemoryStore();
    const servers = [await server(t, store), await server(t, store), await server(t, store)];
    for (const { attach } of servers) attach(obedient);
    await until(() => servers.every(({ platform }) => platform.plugins().length > 0));
    const submissions = await Promise.allSettled(servers.map(({ platform }) => platform.submit(ID, submitted())));
    const refused = submissions.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    for (const reason of refused) assert.ok(refusal('unavailable', /another server is accepting/)(reason));
    assert.ok(refused.length < servers.length);
    for (const { platform } of servers) assert.equal((await platform.submit(ID, submitted())).id, ID);
    for (const { platform } of servers) assert.equal((await eventsOf(platform, ID)).at(-1)?.kind, 'done');
    const { events } = await storedOf(store);
    assert.equal(events.filter(({ kind }) => kind === 'started').length, 1);
  });

  it('continue the evaluation of a silent one, which adds nothing when it wakes', async (t) => {
    const store = await openMemoryStore();
    const { clock, suspend, wake } = suspendable();
    t.after(wake);
    const silent = await server(t, store, { clock, watchMs: 2 ** 31 - 1 });
    let go = (): void => {};
    const going = new Promise<void>((resolve) => (go = resolve));
    silent.attach(
      scripted(async function* () {
        yield { kind: 'note', level: 'info', message: 'at work' };
        await going;
        yield { kind: 'note', level: 'info', message: 'still at work' };
        yield { kind: 'done', result: 'of the silent one', partial: false };
      }),
    );
    await until(() => silent.platform.plugins().length > 0);
    await silent.platform.submit(ID, submitted());
    await until(async () => (await silent.platform.get(ID)).last?.event.kind === 'note');
    suspend();

    const next = await server(t, store);
    const story = eventsOf(next.platform, ID);
    next.attach(obedient);
    const kinds = (await story).map(({ kind }) => kind);
    assert.deepEqual(kinds, ['started', 'note', 'waiting', 'started', 'done']);
    await until(async () => (await storedOf(store)).state === 'done');
    const before = await storedOf(store);
    go();
    await until(() => silent.platform.plugins().every(({ running }) => running === 0));
    assert.deepEqual(await storedOf(store), before);
    assert.equal(before.events.filter(isFinal).length, 1);
  });

  it('stop an evaluation that another one has taken over', async (t) => {
    const store = await openMemoryStore();
    const { clock, suspend, wake } = suspendable();
    t.after(wake);
    const silent = await server(t, store, { clock });
    let isStopped = false;
    silent.attach(
      scripted(async function* (_request, context) {
        yield { kind: 'note', level: 'info', message: 'at work' };
        await untilStopped(context);
        isStopped = true;
      }),
    );
    await until(() => silent.platform.plugins().length > 0);
    await silent.platform.submit(ID, submitted());
    await until(async () => (await silent.platform.get(ID)).last?.event.kind === 'note');
    const follower = eventsOf(silent.platform, ID);
    suspend();
    const next = await server(t, store);
    next.attach(obedient);
    assert.equal((await eventsOf(next.platform, ID)).at(-1)?.kind, 'done');
    await until(() => isStopped);
    assert.deepEqual(await follower, await eventsOf(next.platform, ID));
  });

  it('cancel an evaluation that another one runs', async (t) => {
    const store = await openMemoryStore();
    const one = await server(t, store);
    const other = await server(t, store);
    one.attach(patient);
    await until(() => one.platform.plugins().length > 0);
    await one.platform.submit(ID, submitted());
    await until(async () => (await one.platform.get(ID)).last?.event.kind === 'note');
    assert.equal((await other.platform.cancel(ID)).state, 'cancelled');
    assert.equal((await eventsOf(one.platform, ID)).at(-1)?.kind, 'cancelled');
    const { cancellations } = evaluationCollections(store);
    await until(async () => (await cancellations.get({ evaluation: ID })) === undefined);
  });

  it('share a store of this machine as well: another one continues what the first leaves when it closes', async (t) => {
    const store = await openMemoryStore();
    const start = async () => {
      const directory = directoryWith(AGENT.address);
      const limits = { watchMs: 20, retryMs: 20 };
      const listen = { host: '127.0.0.1', port: 0 };
      const started = await startServer({ listen, store, directory, limits, loader: LOADER });
      t.after(() => started.close());
      return started;
    };
    const one = await start();
    attachPlugin(one.platform, store, patient);
    await until(() => one.platform.plugins().length > 0);
    await one.platform.submit(ID, submitted());
    await until(async () => (await one.platform.get(ID)).last?.event.kind === 'note');

    const other = await start();
    attachPlugin(other.platform, store, obedient);
    await until(() => other.platform.plugins().length > 0);
    assert.equal((await other.platform.get(ID)).record.state, 'running');
    const story = eventsOf(other.platform, ID);
    await one.close();
    const kinds = (await story).map(({ kind }) => kind);
    assert.deepEqual(kinds, ['started', 'note', 'waiting', 'started', 'done']);
  });

  it('leave an evaluation to the one that has its plugin', async (t) => {
    const store = await openMemoryStore();
    const { clock, suspend, wake } = suspendable();
    t.after(wake);
    const silent = await server(t, store, { clock, watchMs: 2 ** 31 - 1 });
    silent.attach(patient);
    await until(() => silent.platform.plugins().length > 0);
    await silent.platform.submit(ID, submitted());
    await until(async () => (await silent.platform.get(ID)).last?.event.kind === 'note');
    suspend();
    const without = await server(t, store);
    const withPlugin = await server(t, store);
    withPlugin.attach(obedient);
    assert.equal((await eventsOf(without.platform, ID)).at(-1)?.kind, 'done');
  });
});
