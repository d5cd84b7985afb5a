import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { PlatformError } from '../../src/base/errors.js';
import type { PluginEvent } from '../../src/evaluation/event.js';
import type { PlatformMessage, RunKey } from '../../src/evaluation/link/link.js';
import { fromWireRun } from '../../src/evaluation/link/run-wire.js';
import { toWireEvent } from '../../src/evaluation/wire/event-wire.js';
import { toWireDuration } from '../../src/rpc/duration.js';
import { full, withChanges } from './changing-store.js';
import { memoryLink } from './memory-link.js';
import { DEFAULT_DISPATCH_LIMITS } from '../../src/server/dispatcher.js';
import type { Platform, PlatformOptions } from '../../src/server/platform.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { assertRefused } from '../rpc/support/refusal.js';
import { until } from '../support/until.js';
import { AGENT, directoryWith, eventsOf, openPlatform, submitted } from './fake-platform.js';

/** Against hanging only, for all of a suite's tests together. */
const deadline = { timeout: 300_000 };
const ID = 'evaluation-1';

const NOTE = { kind: 'note', level: 'info', message: 'at work' } as const;
const DONE = { kind: 'done', resultJson: '42', partial: false } as const;

async function fresh(t: TestContext, options: Partial<PlatformOptions> = {}): Promise<Platform> {
  const { platform } = await openPlatform({ store: await openMemoryStore(), ...options });
  t.after(() => platform.close());
  return platform;
}

/** A plugin that does only what the test makes it do. */
function attached(platform: Platform, { name = 'fake', slots = 1 } = {}) {
  const { platform: end, plugin } = memoryLink();
  const messages: PlatformMessage[] = [];
  const reading = (async () => {
    for await (const message of plugin) messages.push(message);
  })();
  const left = platform.attach(end);
  void plugin.send({ $case: 'registration', value: { name, version: '1.0.0', manifestSchemaJson: '{}', slots } });
  const runs = () => messages.flatMap((one) => (one.$case === 'run' ? [fromWireRun(one.value)] : []));
  const tell = (
    event: PluginEvent,
    { evaluationId, attempt }: RunKey = runs().at(-1) ?? assert.fail('it has no run'),
  ) => plugin.send({ $case: 'runEvent', value: { evaluationId, attempt, event: toWireEvent(event) } });
  const stops = () =>
    messages.flatMap(({ $case, value }) => ($case === 'stop' ? [`${value.evaluationId} ${value.attempt}`] : []));
  return { messages, runs, tell, stops, left, detach: () => plugin.close(), plugin, reading };
}

/** A platform with a plugin. */
async function withPlugin(...[t, options]: Parameters<typeof fresh>) {
  const platform = await fresh(t, options);
  const plugin = attached(platform);
  await until(() => platform.plugins().length === 1);
  return { platform, plugin };
}

async function kindsOf(platform: Platform, id: string): Promise<readonly string[]> {
  return (await eventsOf(platform, id)).map((event) => (event.kind === 'waiting' ? event.reason : event.kind));
}

const place = (n: number): string => `the plugin fake runs other evaluations; place ${n} in the queue`;

describe('the limits of an evaluation', () => {
  it('are those that the documents promise', () => {
    assert.deepEqual(DEFAULT_DISPATCH_LIMITS, {
      // docs/security.md
      leaseMs: 15_000,
      silenceMs: 3_600_000,
      // docs/evaluations.md
      waitForAgentMs: 600_000,
      waitForPluginMs: 300_000,
      retryMs: 2000,
      stopMs: 20_000,
      watchMs: 2000,
      answerMs: 25_000,
    });
  });
});

describe('a plugin', deadline, () => {
  it('goes on with its run, and begins the next one, when a database answers again that was gone beyond the limit', async (t) => {
    let refusals = 0;
    const isAway = () => refusals > 0 && refusals-- > 0;
    const away = () => Promise.reject(new PlatformError('unavailable', 'the store has not answered for 90 s'));
    const store = withChanges(await openMemoryStore(), (work, document) => {
      const isLease = document !== undefined && 'holder' in document;
      return !isLease && isAway() ? away() : work();
    });
    const { platform, plugin } = await withPlugin(t, { store });
    await platform.submit(ID, submitted());
    await until(() => plugin.runs().length === 1);
    refusals = 1;
    await plugin.tell(NOTE);
    await until(() => refusals === 0);
    await platform.submit('evaluation-2', submitted());
    await plugin.tell(NOTE);
    // Its last event, and the first ones of the next run.
    refusals = 3;
    await plugin.tell(DONE);
    await until(() => plugin.runs().length === 2);
    await plugin.tell(DONE);
    await until(() => platform.jobs === 0);
    assert.deepEqual(await kindsOf(platform, ID), ['started', 'note', 'note', 'done']);
    assert.deepEqual(await kindsOf(platform, 'evaluation-2'), [place(1), 'started', 'done']);
  });

  it('is told the first attempt when the database was gone at first', async (t) => {
    let refusals = 2;
    const store = withChanges(await openMemoryStore(), (work, document) => {
      const isBeginning = document !== undefined && 'state' in document && document.state === 'running';
      return isBeginning && refusals-- > 0 ? Promise.reject(new PlatformError('unavailable', 'gone')) : work();
    });
    const { platform, plugin } = await withPlugin(t, { store });
    await platform.submit(ID, submitted());
    await until(() => plugin.runs().length === 1);
    assert.equal(plugin.runs()[0]?.attempt, 1);
  });

  it('does not begin a run that is cancelled while the database is gone', async (t) => {
    let isBeginning = false;
    let isAway = true;
    const store = withChanges(await openMemoryStore(), async (work, document) => {
      isBeginning ||= document !== undefined && 'state' in document && document.state === 'running';
      if (isBeginning) await until(() => !isAway);
      return work();
    });
    const { platform, plugin } = await withPlugin(t, { store });
    await platform.submit(ID, submitted());
    await until(() => isBeginning);
    const cancelled = platform.cancel(ID);
    await setImmediate();
    isAway = false;
    assert.equal((await cancelled).state, 'cancelled');
    assert.deepEqual([plugin.runs(), await kindsOf(platform, ID)], [[], ['started', 'cancelled']]);
  });

  it('is told its lease, is listed with what it runs, and runs as many evaluations as it has slots', async (t) => {
    const platform = await fresh(t, { limits: { leaseMs: 5000 } });
    const plugin = attached(platform, { slots: 2 });
    await until(() => plugin.messages.length > 0);
    assert.deepEqual(plugin.messages, [{ $case: 'registered', value: { lease: toWireDuration(5000) } }]);
    const summary = { name: 'fake', version: '1.0.0', manifestSchemaJson: '{}', slots: 2 };
    assert.deepEqual(platform.plugins(), [{ ...summary, running: 0 }]);
    for (const n of [1, 2, 3]) await platform.submit(`evaluation-${n}`, submitted());
    await until(() => plugin.runs().length === 2);
    assert.deepEqual(platform.plugins(), [{ ...summary, running: 2 }]);
    assert.deepEqual(platform.working(), [
      { id: 'evaluation-1', name: 'tiny', agents: [AGENT.address] },
      { id: 'evaluation-2', name: 'tiny', agents: [AGENT.address] },
    ]);
    assert.equal(platform.jobs, 3);
    await plugin.tell(DONE, plugin.runs()[0]);
    await until(() => plugin.runs().length === 3);
    await plugin.tell(DONE, plugin.runs()[1]);
    await plugin.tell(DONE, plugin.runs()[2]);
    await until(() => platform.jobs === 0);
    assert.deepEqual([platform.plugins(), platform.working()], [[{ ...summary, running: 0 }], []]);
  });

  it('gets the attempt, the submission, the agents with their tokens, and the trace of the client', async (t) => {
    const agents = directoryWith();
    agents.register({ ...AGENT, tls: true }, { name: '', accessToken: 'of this agent' });
    const { platform, plugin } = await withPlugin(t, { agents });
    const traceContext = { traceparent: '00-aa-bb-01' };
    await platform.submit(ID, submitted(), { traceContext });
    await until(() => plugin.runs().length === 1);
    const [run = assert.fail()] = plugin.runs();
    const { evaluationId, attempt, agents: endpoints, submission } = run;
    assert.deepEqual([evaluationId, attempt, run.traceContext], [ID, 1, traceContext]);
    assert.deepEqual(endpoints, [{ address: AGENT.address, tls: true, token: 'of this agent' }]);
    assert.equal(submission.manifestPath, 'tiny.yml');
    await plugin.tell(DONE);
    assert.deepEqual(await kindsOf(platform, ID), ['started', 'done']);
  });

  it('ends its stream where the server is full, and is not listed when it has left', async (t) => {
    const platform = await fresh(t);
    const plugins = Array.from({ length: 256 }, (_, n) => attached(platform, { name: `plugin-${n}` }));
    await until(() => platform.plugins().length === 256);
    const further = attached(platform);
    await assertRefused(further.left, 'exhausted', /^256 plugins are attached already/);
    await further.reading;
    for (const { detach } of plugins) detach();
    await Promise.all(plugins.map(({ left }) => left));
    assert.deepEqual(platform.plugins(), []);
    for (const { reading } of plugins) await reading;
  });

  it('leaves with the server, and cannot attach to it any more', async (t) => {
    const platform = await fresh(t);
    const before = attached(platform);
    await until(() => platform.plugins().length === 1);
    platform.close();
    await Promise.all([before.left, before.reading]);
    const after = attached(platform);
    await assertRefused(after.left, 'unavailable', /^the server is shutting down$/);
    await after.reading;
  });

  it('that is missing is named, with what is there', async (t) => {
    const platform = await fresh(t);
    const submit = () => platform.submit(ID, submitted({ plugin: 'other' }));
    await assertRefused(
      submit(),
      'unavailable',
      /^the plugin other is not attached to this server, nor is any other; start it with `mlmodelscope plugin other --server ADDRESS`, or without a server use --plugin PATH$/,
    );
    attached(platform, { name: 'a' });
    attached(platform, { name: 'b' });
    await until(() => platform.plugins().length === 2);
    await assertRefused(submit(), 'unavailable', /attached are a, b; start it with/);
  });

  it('is given no evaluation of another plugin', async (t) => {
    const platform = await fresh(t);
    const fake = attached(platform);
    const other = attached(platform, { name: 'other' });
    await until(() => platform.plugins().length === 2);
    for (const n of [1, 2]) await platform.submit(`evaluation-${n}`, submitted());
    await platform.submit('evaluation-3', submitted({ plugin: 'other' }));
    await until(() => fake.runs().length + other.runs().length === 2);
    assert.deepEqual(
      [fake, other].map((plugin) => plugin.runs().map(({ evaluationId }) => evaluationId)),
      [['evaluation-1'], ['evaluation-3']],
    );
  });

  it('that another one of its name replaces takes over the waiting evaluations', async (t) => {
    const platform = await fresh(t);
    const first = attached(platform);
    await until(() => platform.plugins().length === 1);
    await platform.submit(ID, submitted());
    await until(() => first.runs().length === 1);
    first.detach();
    await first.left;
    await until(async () => (await platform.get(ID)).record.state === 'queued');
    const second = attached(platform);
    await until(() => second.runs().length === 1);
    assert.equal(second.runs()[0]?.attempt, 2);
    await second.tell(DONE);
    const reason = /^the plugin fake went away; everything measured so far is kept/;
    const kinds = await kindsOf(platform, ID);
    assert.deepEqual([kinds[0], kinds[2], kinds[3]], ['started', 'started', 'done']);
    assert.match(kinds[1] ?? '', reason);
  });

  it('that is lost while its run is prepared gets no run, and the next one does', async (t) => {
    const store = await openMemoryStore();
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    let reads = 0;
    const collectionOf = store.collection.bind(store);
    store.collection = (definition) => {
      const documents = collectionOf(definition);
      if (definition.name !== 'submission_parts') return documents;
      const find = documents.find.bind(documents);
      documents.find = async function* (match) {
        reads++;
        await released;
        yield* find(match);
      };
      return documents;
    };
    const platform = await fresh(t, { store });
    const first = attached(platform);
    await until(() => platform.plugins().length === 1);
    await platform.submit(ID, submitted());
    await until(() => reads === 1);
    first.detach();
    await first.left;
    release();
    const second = attached(platform);
    await until(() => second.runs().length === 1);
    await second.tell(DONE);
    assert.equal((await kindsOf(platform, ID)).at(-1), 'done');
    assert.deepEqual(first.runs(), []);
  });

  it('that is lost in the third run ends the evaluation', async (t) => {
    const platform = await fresh(t);
    let plugin = attached(platform);
    await until(() => platform.plugins().length === 1);
    await platform.submit(ID, submitted());
    for (const attempt of [1, 2, 3]) {
      await until(() => plugin.runs().length === 1);
      assert.equal(plugin.runs()[0]?.attempt, attempt);
      plugin.detach();
      await plugin.left;
      plugin = attached(platform);
    }
    const last = (await eventsOf(platform, ID)).at(-1);
    assert.ok(last?.kind === 'failed' && last.code === 'unavailable');
    assert.match(last.message, /^the plugin fake went away 3 times in the middle of this evaluation; check its/);
    await until(() => platform.jobs === 0);
  });

  it('that says nothing is given up with the reason, in minutes, and may run the next evaluation', async (t) => {
    const { platform, plugin } = await withPlugin(t, { limits: { silenceMs: 100 } });
    await platform.submit(ID, submitted());
    const last = (await eventsOf(platform, ID)).at(-1);
    assert.ok(last?.kind === 'failed' && last.code === 'timeout');
    assert.equal(last.message, 'the plugin fake has sent no event for 0 minutes; check its process, and submit again');
    await until(() => plugin.stops().length === 1);
    assert.deepEqual(plugin.stops(), [`${ID} 1`]);
    await plugin.tell(DONE, plugin.runs()[0]);
    await platform.submit('evaluation-2', submitted());
    await until(() => plugin.runs().length === 2);
    assert.equal(plugin.runs()[1]?.evaluationId, 'evaluation-2');
  });
});

describe('an evaluation in the queue', deadline, () => {
  it('is told its first place, and each of the last ten', async (t) => {
    const { platform, plugin } = await withPlugin(t);
    const ids = Array.from({ length: 14 }, (_, n) => `evaluation-${n}`);
    for (const id of ids) await platform.submit(id, submitted());
    for (const n of ids.keys()) {
      await until(() => plugin.runs().length === n + 1);
      assert.equal(plugin.runs()[n]?.evaluationId, ids[n], 'first come, first served');
      await plugin.tell(DONE);
    }
    const told = [13, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1].map(place);
    assert.deepEqual(await kindsOf(platform, 'evaluation-13'), [...told, 'started', 'done']);
  });

  it('moves up when one before it is cancelled', async (t) => {
    const { platform, plugin } = await withPlugin(t);
    for (const n of [1, 2, 3]) await platform.submit(`evaluation-${n}`, submitted());
    await until(() => plugin.runs().length === 1);
    assert.equal((await platform.cancel('evaluation-2')).state, 'cancelled');
    await until(async () => JSON.stringify((await platform.get('evaluation-3')).last).includes('place 1'));
    await plugin.tell(DONE);
    await until(() => plugin.runs().length === 2);
    await plugin.tell(DONE);
    assert.deepEqual(await kindsOf(platform, 'evaluation-3'), [place(2), place(1), 'started', 'done']);
    assert.deepEqual(await kindsOf(platform, 'evaluation-2'), [place(1), 'cancelled']);
  });

  it('that waits for a plugin that is started here fails with the reason, in minutes, and blocks no other', async (t) => {
    const { platform, plugin } = await withPlugin(t, { ownPlugins: ['slow'], limits: { waitForPluginMs: 60 } });
    await platform.submit('evaluation-1', submitted({ plugin: 'slow' }));
    await platform.submit('evaluation-2', submitted());
    const last = (await eventsOf(platform, 'evaluation-1')).at(-1);
    assert.ok(last?.kind === 'failed' && last.code === 'unavailable');
    assert.match(last.message, /^the plugin slow, which this server starts, did not attach within 0\.001 minutes; the/);
    await until(() => plugin.runs().length === 1);
    await plugin.tell(DONE);
    assert.equal((await kindsOf(platform, 'evaluation-2')).at(-1), 'done');
    const slow = attached(platform, { name: 'slow' });
    await until(() => platform.plugins().length === 2);
    await setImmediate();
    assert.deepEqual(slow.runs(), [], 'it has failed');
  });
});

describe('an evaluation of a server that ends', deadline, () => {
  it('waits on the next one for a plugin that is started there', async (t) => {
    const store = await openMemoryStore();
    const limits = { waitForPluginMs: 500 };
    const platform = await fresh(t, { store, ownPlugins: ['fake'], limits });
    await platform.submit(ID, submitted());
    platform.close();
    await setTimeout(2 * limits.waitForPluginMs);
    const { platform: next } = await openPlatform({ store }, { resume: true });
    t.after(() => next.close());
    assert.equal((await next.get(ID)).record.state, 'queued');
    const plugin = attached(next);
    await until(() => plugin.runs().length === 1);
    await plugin.tell(DONE);
    assert.equal((await kindsOf(next, ID)).at(-1), 'done');
  });
});

describe('an evaluation that is cancelled', deadline, () => {
  it('is stopped once, and keeps the result of a plugin that was done before it heard of it', async (t) => {
    const { platform, plugin } = await withPlugin(t);
    await platform.submit(ID, submitted());
    await until(() => plugin.runs().length === 1);
    await plugin.tell(NOTE);
    const cancelled = platform.cancel(ID);
    await until(() => plugin.stops().length === 1);
    assert.deepEqual(plugin.stops(), [`${ID} 1`]);
    await plugin.tell(DONE);
    assert.equal((await cancelled).state, 'done');
    assert.deepEqual(await kindsOf(platform, ID), ['started', 'note', 'done']);
  });

  it('counts as cancelled if its plugin fails while it stops, and if it does not stop in time', async (t) => {
    const { platform, plugin } = await withPlugin(t, { limits: { stopMs: 50 } });
    await platform.submit('evaluation-1', submitted());
    await until(() => plugin.runs().length === 1);
    const cancelled = platform.cancel('evaluation-1');
    await plugin.tell({ kind: 'failed', code: 'internal', message: 'stopped' });
    assert.equal((await cancelled).state, 'cancelled');
    await platform.submit('evaluation-2', submitted());
    await until(() => plugin.runs().length === 2);
    assert.equal((await platform.cancel('evaluation-2')).state, 'cancelled');
    for (const id of ['evaluation-1', 'evaluation-2'])
      assert.deepEqual(await kindsOf(platform, id), ['started', 'cancelled']);
    await platform.submit('evaluation-3', submitted());
    await until(() => plugin.runs().length === 3);
    await plugin.tell(DONE);
    assert.deepEqual(await kindsOf(platform, 'evaluation-3'), ['started', 'done']);
  });

  it('does not come back if its plugin is lost meanwhile', async (t) => {
    const { platform, plugin } = await withPlugin(t);
    await platform.submit(ID, submitted());
    await until(() => plugin.runs().length === 1);
    const cancelled = platform.cancel(ID);
    plugin.detach();
    assert.equal((await cancelled).state, 'cancelled');
    const next = attached(platform);
    await until(() => platform.plugins().length === 1);
    await setImmediate();
    assert.deepEqual(next.runs(), []);
    assert.equal((await eventsOf(platform, ID)).at(-1)?.kind, 'cancelled');
  });
});

describe('an evaluation whose end the store refuses', deadline, () => {
  /** A store that refuses all changes, or only those of records, while `refused` says so. */
  async function refusing(t: TestContext, options: Partial<PlatformOptions> = {}) {
    const disk: { refused: 'nothing' | 'records' | 'everything' } = { refused: 'nothing' };
    const store = withChanges(await openMemoryStore(), (work, document) => {
      const isRecord = document !== undefined && 'attempts' in document;
      return disk.refused === 'everything' || (disk.refused === 'records' && isRecord) ? full() : work();
    });
    const platform = await fresh(t, { store, ...options });
    return { disk, platform };
  }

  it('ends with its result when the store works again, and lets the next one run', async (t) => {
    const { disk, platform } = await refusing(t);
    const plugin = attached(platform);
    await until(() => platform.plugins().length === 1);
    await platform.submit(ID, submitted());
    await platform.submit('evaluation-2', submitted());
    await until(() => plugin.runs().length === 1);
    disk.refused = 'everything';
    await plugin.tell(DONE);
    await setTimeout(100);
    assert.deepEqual([platform.jobs, (await platform.get(ID)).record.state], [2, 'running']);
    disk.refused = 'nothing';
    const last = (await eventsOf(platform, ID)).at(-1);
    assert.deepEqual(last, DONE);
    await until(() => plugin.runs().length === 2);
    await plugin.tell(DONE);
    await until(() => platform.jobs === 0);
    assert.equal((await platform.get(ID)).record.state, 'done');
  });

  it('because its plugin did not attach ends when the store works again', async (t) => {
    const { disk, platform } = await refusing(t, { ownPlugins: ['fake'], limits: { waitForPluginMs: 50 } });
    await platform.submit(ID, submitted());
    await until(async () => (await platform.get(ID)).last !== undefined);
    disk.refused = 'everything';
    await setTimeout(100);
    disk.refused = 'nothing';
    assert.equal((await eventsOf(platform, ID)).at(-1)?.kind, 'failed');
    await until(() => platform.jobs === 0);
  });

  it('after its last event ends when the store works again', async (t) => {
    const { disk, platform } = await refusing(t, { ownPlugins: ['fake'] });
    await platform.submit(ID, submitted());
    disk.refused = 'records';
    await assertRefused(platform.cancel(ID), 'storage', /the disk is full/);
    disk.refused = 'nothing';
    await until(() => platform.jobs === 0);
    assert.deepEqual(
      [(await platform.get(ID)).record.state, (await platform.list())[0]?.state],
      ['cancelled', 'cancelled'],
    );
  });
});

describe('an evaluation that has ended', deadline, () => {
  it('has changed at the time of its last event, for all readers', async (t) => {
    const { platform, plugin } = await withPlugin(t);
    await platform.submit(ID, submitted());
    await until(() => plugin.runs().length === 1);
    await setTimeout(20);
    await plugin.tell(DONE);
    const at: (string | undefined)[] = [];
    for await (const { event, at: time } of platform.follow(ID, 0, new AbortController().signal)) {
      if (event.kind !== 'done') continue;
      at.push(time, (await platform.get(ID)).record.changedAt);
    }
    await until(() => platform.jobs === 0);
    at.push((await platform.get(ID)).record.changedAt, (await platform.list())[0]?.changedAt);
    assert.equal(new Set(at).size, 1, at.join());
  });
});

describe('a message of a plugin', deadline, () => {
  it('about another run, or another evaluation, has no effect', async (t) => {
    const { platform, plugin } = await withPlugin(t);
    await platform.submit(ID, submitted());
    await until(() => plugin.runs().length === 1);
    for (const key of [
      { evaluationId: ID, attempt: 2 },
      { evaluationId: 'evaluation-2', attempt: 1 },
    ]) {
      await plugin.plugin.send({ $case: 'unreachable', value: { ...key, agent: AGENT.address, reason: 'gone' } });
      await plugin.tell(DONE, key);
    }
    await plugin.plugin.send({ $case: 'renewal', value: {} });
    const unknown = { evaluationId: ID, attempt: 1, agent: 'unknown:1', reason: 'gone' };
    await plugin.plugin.send({ $case: 'unreachable', value: unknown });
    await plugin.tell({ kind: 'failed', code: 'model', message: 'broken' });
    const last = (await eventsOf(platform, ID)).at(-1);
    assert.deepEqual(last, { kind: 'failed', code: 'model', message: 'broken' });
    assert.deepEqual(await kindsOf(platform, ID), ['started', 'failed']);
  });

  it('after the end has no effect, and a result that is no JSON is a failure', async (t) => {
    const { platform, plugin } = await withPlugin(t);
    await platform.submit(ID, submitted());
    await until(() => plugin.runs().length === 1);
    await plugin.tell({ ...DONE, resultJson: '{' });
    await plugin.tell(NOTE);
    await plugin.tell(DONE);
    const last = (await eventsOf(platform, ID)).at(-1);
    assert.ok(last?.kind === 'failed' && last.code === 'internal');
    assert.match(last.message, /^the plugin fake 1\.0\.0 sent a result that is no JSON/);
    assert.deepEqual(await kindsOf(platform, ID), ['started', 'failed']);
  });
});
