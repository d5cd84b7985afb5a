import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { BenchmarkAgent } from '../../src/agent/benchmark-agent.js';
import { PlatformError } from '../../src/base/errors.js';
import type { Evaluation } from '../../src/evaluation/evaluation.js';
import type { AgentEndpoint } from '../../src/evaluation/link/link.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import type { Platform } from '../../src/server/platform.js';
import { createFakeAgent } from '../support/fake-agent.js';
import { until } from '../support/until.js';
import { AGENT, attachPlugin, directoryWith, eventsOf, fakeAgent, openPlatform, submitted } from './fake-platform.js';
import { DONE, obedient, patient, scripted, untilStopped } from './scripted-evaluation.js';

/** Against hanging only, for all of a suite's tests together: each platform starts a thread. */
const deadline = { timeout: 300_000 };
const ID = 'evaluation-1';
const RETRY_MS = 5;

/** Long enough for many attempts. */
const A_WHILE_MS = 30 * RETRY_MS;

const refused = (address: string): PlatformError =>
  new PlatformError('unavailable', `the agent at ${address} does not answer`);

async function isWaiting(platform: Platform, id = ID): Promise<boolean> {
  return JSON.stringify((await platform.get(id)).last ?? '').includes('can be reached');
}

async function fresh(t: TestContext, limits = {}, addresses: readonly string[] = []) {
  const store = await openMemoryStore();
  const agents = directoryWith(...addresses);
  const fake = await openPlatform({ store, agents, limits: { retryMs: RETRY_MS, ...limits } });
  t.after(() => fake.platform.close());
  return { ...fake, store, agents };
}

/** A platform and its agents, of which those in `dead` cannot be reached. */
async function platformWith(t: TestContext, addresses: readonly string[], limits = {}) {
  const fake = await fresh(t, limits, addresses);
  const { platform, agents } = fake;
  const dead = new Set<string>();
  const tried: string[] = [];
  const connect = ({ address }: AgentEndpoint): Promise<BenchmarkAgent> => {
    tried.push(address);
    return dead.has(address) ? Promise.reject(refused(address)) : Promise.resolve(fakeAgent());
  };
  const attach = (evaluation: Evaluation) => fake.attach(evaluation, connect);
  const renew = (address: string): void =>
    agents.renew(agents.list().find((agent) => agent.address === address)?.id ?? assert.fail(address));
  return { ...fake, dead, tried, attach, renew, isWaiting: (id?: string) => isWaiting(platform, id) };
}

/** Attaches a plugin that is done at once. @returns the threads of the evaluations that it has run, in order */
function attachRecorder(attach: (evaluation: Evaluation) => unknown): readonly unknown[] {
  const order: unknown[] = [];
  attach(
    scripted(async function* ({ evaluation }) {
      order.push(evaluation.manifest.threads);
      yield await Promise.resolve(DONE);
    }),
  );
  return order;
}

describe('an evaluation whose agent cannot be reached', deadline, () => {
  for (const changes of [{}, { agents: 'all' }, { placement: 'each' }, { hardware: { cores: { min: 4 } } }]) {
    it(`has not begun, and runs when the agent has renewed its registration (${JSON.stringify(changes)})`, async (t) => {
      const { platform, attach, dead, tried, renew, isWaiting } = await platformWith(t, [AGENT.address]);
      dead.add(AGENT.address);
      attach(obedient);
      await platform.submit(ID, submitted(changes));
      await until(() => isWaiting());
      assert.equal((await platform.get(ID)).record.state, 'queued');
      dead.clear();
      await setTimeout(A_WHILE_MS);
      assert.equal(tried.length, 1);
      renew(AGENT.address);
      const kinds = (await eventsOf(platform, ID)).map(({ kind }) => kind).filter((kind) => kind !== 'note');
      assert.deepEqual(kinds, ['started', 'waiting', 'started', 'done']);
    });
  }

  it('runs when the agent, which was started again and refuses its old token, has registered', async (t) => {
    const { platform, attach, agents } = await fresh(t);
    const registerWith = (accessToken: string) => agents.register(AGENT, { name: '', accessToken });
    registerWith('old');
    attach(obedient, ({ token }) => {
      if (token === 'new') return Promise.resolve(fakeAgent());
      return Promise.reject(new PlatformError('unauthenticated', 'a wrong token'));
    });
    await platform.submit(ID, submitted());
    await until(() => isWaiting(platform));
    registerWith('new');
    assert.equal((await eventsOf(platform, ID)).at(-1)?.kind, 'done');
  });

  it('runs on the next agent that registers, before those that were submitted after it', async (t) => {
    const { platform, attach, dead, agents, isWaiting } = await platformWith(t, [AGENT.address]);
    dead.add(AGENT.address);
    const order = attachRecorder(attach);
    const threads = [1, 2, 3, 4];
    for (const count of threads) await platform.submit(`evaluation-${count}`, submitted({ threads: count }));
    for (const count of threads) await until(() => isWaiting(`evaluation-${count}`));
    agents.register({ ...AGENT, address: '10.0.0.2:1' });
    for (const count of threads) await eventsOf(platform, `evaluation-${count}`);
    assert.deepEqual(order, threads);
  });

  it('runs before one that is submitted when an agent has registered, between two attempts', async (t) => {
    const { platform, attach, dead, agents, isWaiting } = await platformWith(t, [AGENT.address], { retryMs: 60_000 });
    dead.add(AGENT.address);
    const order = attachRecorder(attach);
    await platform.submit(ID, submitted({ threads: 1 }));
    await until(() => isWaiting());
    agents.register({ ...AGENT, address: '10.0.0.2:1' });
    await platform.submit('evaluation-2', submitted({ threads: 2 }));
    for (const id of [ID, 'evaluation-2']) await eventsOf(platform, id);
    assert.deepEqual(order, [1, 2]);
  });

  it('runs before a later one that has lost its plugin, although that one has given way to it before', async (t) => {
    const { platform, attach, dead, agents, isWaiting } = await platformWith(t, [AGENT.address], { retryMs: 60_000 });
    dead.add(AGENT.address);
    const order: unknown[] = [];
    const evaluation = scripted(async function* ({ evaluation: { manifest } }, context) {
      order.push(manifest.threads);
      if (order.length === 1) {
        yield { kind: 'note', level: 'info', message: 'at work' };
        await untilStopped(context);
      } else yield DONE;
    });
    const detach = attach(evaluation);
    await platform.submit(ID, submitted({ threads: 1, hardware: { processor: AGENT.processor } }));
    await until(() => isWaiting());
    agents.register({ ...AGENT, address: '10.0.0.2:1', processor: 'other processor' });
    await platform.submit('evaluation-2', submitted({ threads: 2 }));
    await until(async () => (await platform.get('evaluation-2')).last?.event.kind === 'note');
    agents.register({ ...AGENT, address: '10.0.0.3:1' });
    detach();
    attach(evaluation);
    await eventsOf(platform, 'evaluation-2');
    assert.deepEqual(order, [2, 1, 2]);
  });

  it('leaves the plugin to one that needs another agent', async (t) => {
    const { platform, attach, dead, agents, isWaiting } = await platformWith(t, [AGENT.address]);
    agents.register({ ...AGENT, address: '10.0.0.2:1', processor: 'other processor' });
    dead.add(AGENT.address);
    attach(obedient);
    await platform.submit(ID, submitted({ hardware: { processor: AGENT.processor } }));
    await until(() => isWaiting());
    await platform.submit('evaluation-2', submitted({ hardware: { processor: 'other processor' } }));
    assert.equal((await eventsOf(platform, 'evaluation-2')).at(-1)?.kind, 'done');
    assert.equal((await platform.get(ID)).record.state, 'queued');
  });

  it('fails at last, with the reason, also if the agent renews its registration all the time', async (t) => {
    const waitForAgentMs = 20 * RETRY_MS;
    const { platform, attach, dead, tried, renew } = await platformWith(t, [AGENT.address], { waitForAgentMs });
    dead.add(AGENT.address);
    attach(obedient);
    let renewals = 0;
    const renewal = setInterval(() => {
      renew(AGENT.address);
      renewals++;
    }, 1);
    t.after(() => clearInterval(renewal));
    await platform.submit(ID, submitted());
    const last = (await eventsOf(platform, ID)).at(-1);
    assert.ok(last?.kind === 'failed' && last.code === 'unavailable');
    assert.match(last.message, /the agent at 127\.0\.0\.1:7070 does not answer/);
    assert.ok(tried.length > 1 && tried.length <= renewals + 1, `${tried.length} attempts`);
  });

  it('waits for the whole time, however long it has waited for its plugin', async (t) => {
    const waitForAgentMs = 2000;
    const { platform, attach, dead, renew, isWaiting } = await platformWith(t, [AGENT.address], { waitForAgentMs });
    attach(patient);
    await platform.submit('evaluation-0', submitted());
    await platform.submit(ID, submitted());
    await setTimeout(waitForAgentMs);
    dead.add(AGENT.address);
    await platform.cancel('evaluation-0');
    await until(() => isWaiting());
    dead.clear();
    renew(AGENT.address);
    await until(async () => (await platform.get(ID)).last?.event.kind === 'note');
  });

  it('can be cancelled', async (t) => {
    const { platform, attach, dead, isWaiting, renew, tried } = await platformWith(t, [AGENT.address]);
    dead.add(AGENT.address);
    attach(obedient);
    await platform.submit(ID, submitted());
    await until(() => isWaiting());
    assert.equal((await platform.cancel(ID)).state, 'cancelled');
    renew(AGENT.address);
    await setTimeout(A_WHILE_MS);
    assert.equal(tried.length, 1);
  });

  it('waits on the next server of its store', async (t) => {
    const { platform, attach, dead, isWaiting, store } = await platformWith(t, [AGENT.address]);
    dead.add(AGENT.address);
    attach(obedient);
    await platform.submit(ID, submitted());
    await until(() => isWaiting());
    platform.close();
    const after = await openPlatform({ store }, { resume: true });
    t.after(() => after.platform.close());
    after.attach(obedient);
    assert.equal((await eventsOf(after.platform, ID)).at(-1)?.kind, 'done');
  });
});

describe('an evaluation fails at once', deadline, () => {
  it('if its agent ends after it has begun', async (t) => {
    const { platform, attach } = await platformWith(t, [AGENT.address]);
    attach(
      scripted(async function* () {
        yield { kind: 'note', level: 'info', message: 'at work' };
        throw await Promise.resolve(refused(AGENT.address));
      }),
    );
    await platform.submit(ID, submitted());
    const kinds = (await eventsOf(platform, ID)).map(({ kind }) => kind);
    assert.deepEqual(kinds, ['started', 'note', 'failed']);
  });

  it('if its agent refuses the plugin', async (t) => {
    const { platform, attach } = await fresh(t, {}, [AGENT.address]);
    attach(obedient, () => Promise.reject(new PlatformError('unauthenticated', 'a wrong token')));
    await platform.submit(ID, submitted());
    const last = (await eventsOf(platform, ID)).at(-1);
    assert.ok(last?.kind === 'failed' && last.code === 'unauthenticated');
  });
});

describe('an evaluation whose agent goes away while it measures', deadline, () => {
  /**
   * In each of the first `losses` runs, the agent goes away after a measurement, and does not answer again. Each time,
   * the server looks for an agent many times before the agent renews its registration.
   */
  async function eventsAfter(t: TestContext, losses: number, changes = {}) {
    const { platform, store, renew } = await platformWith(t, [AGENT.address]);
    let connections = 0;
    const connect = ({ address }: AgentEndpoint): Promise<BenchmarkAgent> => {
      const isLost = connections++ < 2 * losses;
      if (isLost && connections % 2 === 0) return Promise.reject(refused(address));
      const optimize = (): Promise<never> => (isLost ? Promise.reject(refused(address)) : Promise.resolve({} as never));
      return Promise.resolve({ ...fakeAgent(), optimize });
    };
    const evaluation = scripted(async function* (_, { agent }) {
      yield { kind: 'measuring', done: 1, total: 2, label: 'a brick' };
      await agent.optimize({} as never, {} as never);
      yield DONE;
    });
    attachPlugin(platform, store, evaluation, connect);
    const renewal = setInterval(() => renew(AGENT.address), A_WHILE_MS);
    t.after(() => clearInterval(renewal));
    await platform.submit(ID, submitted(changes));
    return eventsOf(platform, ID);
  }

  for (const changes of [{}, { agents: 'all' }, { placement: 'each' }]) {
    it(`continues when the agent is back (${JSON.stringify(changes)})`, async (t) => {
      const events = await eventsAfter(t, 2, changes);
      assert.equal(events.at(-1)?.kind, 'done');
      const reasons = events.flatMap((event) => (event.kind === 'waiting' ? event.reason : []));
      assert.equal(reasons.filter((reason) => reason.includes('can be reached')).length, 2);
      assert.match(reasons.join(), /its agent \(127\.0\.0\.1:7070\) went away; everything measured so far is kept/);
    });
  }

  it('continues on an agent of another system', async (t) => {
    const { platform, store } = await platformWith(t, ['10.0.0.1:1', '10.0.0.2:1']);
    const dead = new Set<string>();
    const tried: string[] = [];
    const connect = ({ address }: AgentEndpoint): Promise<BenchmarkAgent> => {
      if (dead.has(address)) return Promise.reject(refused(address));
      tried.push(address);
      const processor = tried[0] === address ? 'first' : 'other';
      const optimize = (): Promise<never> => {
        if (tried[0] !== address) return Promise.resolve({} as never);
        dead.add(address);
        return Promise.reject(refused(address));
      };
      return Promise.resolve({ ...createFakeAgent({ latencyOf: () => 1, processor }), optimize });
    };
    const evaluation = scripted(async function* (_, { agent }) {
      yield { kind: 'measuring', done: 1, total: 2, label: 'a brick' };
      await agent.optimize({} as never, {} as never);
      yield DONE;
    });
    attachPlugin(platform, store, evaluation, connect);
    await platform.submit(ID, submitted());
    const events = await eventsOf(platform, ID);
    assert.equal(events.at(-1)?.kind, 'done');
    assert.match(JSON.stringify(events), /went away; everything measured so far is kept/);
  });

  it('continues on another system when all agents of the one that it has chosen went away', async (t) => {
    const fast = ['10.0.0.1:1', '10.0.0.2:1'];
    const { platform, store } = await platformWith(t, [...fast, '10.0.0.3:1']);
    const dead = new Set<string>();
    const connect = ({ address }: AgentEndpoint): Promise<BenchmarkAgent> => {
      if (dead.has(address)) return Promise.reject(refused(address));
      const isFast = fast.includes(address);
      const optimize = (): Promise<never> => {
        if (!isFast) return Promise.resolve({} as never);
        dead.add(address);
        return Promise.reject(refused(address));
      };
      const fake = createFakeAgent({ latencyOf: () => 1, processor: isFast ? 'fast' : 'slow' });
      return Promise.resolve({ ...fake, optimize });
    };
    const evaluation = scripted(async function* (_, { agent }) {
      yield { kind: 'measuring', done: 1, total: 2, label: 'a brick' };
      await agent.optimize({} as never, {} as never);
      yield { kind: 'note', level: 'info', message: `on ${agent.description.processor}` };
      yield DONE;
    });
    attachPlugin(platform, store, evaluation, connect);
    await platform.submit(ID, submitted({ agents: 'all' }));
    const events = await eventsOf(platform, ID);
    assert.equal(events.at(-1)?.kind, 'done', JSON.stringify(events.at(-1)));
    const texts = events.flatMap((event) => (event.kind === 'waiting' ? event.reason : []));
    assert.match(texts.join('\n'), /its agent \(10\.0\.0\.[12]:1, 10\.0\.0\.[12]:1\) went away/);
    assert.ok(events.some((event) => event.kind === 'note' && event.message === 'on slow'));
  });

  it('fails after three times, because it may be the cause', async (t) => {
    const last = (await eventsAfter(t, 3)).at(-1);
    assert.ok(last?.kind === 'failed' && last.code === 'unavailable');
    assert.match(last.message, /its agent \(127\.0\.0\.1:7070\) went away 3 times in the middle of this evaluation/);
  });
});

describe('an evaluation of several agents', deadline, () => {
  it('runs on those that can be reached, and the next one is not given to the others', async (t) => {
    const { platform, attach, dead, tried } = await platformWith(t, ['10.0.0.1:1', '10.0.0.2:1']);
    dead.add('10.0.0.2:1');
    attach(obedient);
    await platform.submit(ID, submitted({ agents: 'all' }));
    assert.equal((await eventsOf(platform, ID)).at(-1)?.kind, 'done');
    assert.deepEqual(tried.toSorted(), ['10.0.0.1:1', '10.0.0.2:1']);
    await platform.submit('evaluation-2', submitted({ agents: 'all' }));
    assert.equal((await eventsOf(platform, 'evaluation-2')).at(-1)?.kind, 'done');
    assert.deepEqual(tried.slice(2), ['10.0.0.1:1']);
  });
});
