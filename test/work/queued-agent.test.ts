import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { BenchmarkAgent, MeasuredRequest, MeasureRequest } from '../../src/agent/benchmark-agent.js';
import { computeClass } from '../../src/measurement/system.js';
import { createFakeAgent, type FakeAgent } from '../support/fake-agent.js';
import type { Clock } from '../../src/base/clock.js';
import { PlatformError } from '../../src/base/errors.js';
import type { Measurement } from '../../src/measurement/measurement.js';
import { knownResults, buildWanted } from '../../src/measuring/known-results.js';
import { collect } from '../../src/base/collect.js';
import { Leases } from '../../src/store/leases/leases.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import type { ResultStore } from '../../src/store/result-store.js';
import { answersIn, forgetOrphans } from '../../src/work/answers.js';
import { MemoryWorkQueue } from './memory/memory-work-queue.js';
import { queuedAgent } from '../../src/work/queued-agent.js';
import { serveWork } from '../../src/work/serve-work.js';
import { storeId } from '../../src/work/store-id.js';
import { encodeItem } from '../../src/work/work-item.js';
import { assertRefused } from '../rpc/support/refusal.js';
import { fast, suspendable } from '../store/fast-clock.js';
import { signatureOf } from '../store/sample-measurement.js';
import { until } from '../support/until.js';
import { message } from './work-queue-contract.js';
import { sampleRequests } from './sample-requests.js';

interface Place {
  readonly queue: MemoryWorkQueue;
  readonly store: ResultStore;
  /** Starts an agent that serves until the test ends, or until the returned function is called. */
  readonly serve: (agent: BenchmarkAgent, own?: ResultStore) => () => Promise<void>;
  readonly queued: (agent: BenchmarkAgent, clock?: Clock) => BenchmarkAgent;
}

async function place(t: TestContext): Promise<Place> {
  const queue = new MemoryWorkQueue();
  const store = await openMemoryStore();
  t.after(() => queue.close());
  return {
    queue,
    store,
    serve: (agent, own = store) => {
      const stop = new AbortController();
      const served = serveWork(queue, agent, own, { signal: stop.signal, clock: fast });
      const end = async (): Promise<void> => {
        stop.abort();
        await served;
      };
      t.after(end);
      return end;
    },
    queued: (agent, clock = fast) => {
      const queued = queuedAgent(queue, agent, store, clock);
      t.after(() => queued.close());
      return queued;
    },
  };
}

function fakeAgent(host = 'machine-1', changes: Partial<Parameters<typeof createFakeAgent>[0]> = {}): FakeAgent {
  return createFakeAgent({ latencyOf: () => 1.5, host, ...changes });
}

/** The same agent, which calls `before` before each measurement that it takes. */
function beforeEach(
  agent: FakeAgent,
  before: (request: MeasureRequest, signal?: AbortSignal) => void | Promise<void>,
): BenchmarkAgent {
  return {
    ...agent,
    async *measure(requests, options) {
      for (const [index, request] of requests.entries()) {
        await before(request, options?.signal);
        for await (const { measurement } of agent.measure([request], options)) yield { index, measurement };
      }
    },
  };
}

/** Resolves when the signal is aborted. */
function aborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }));
}

async function all(measured: AsyncIterable<MeasuredRequest>): Promise<readonly MeasuredRequest[]> {
  return (await collect(measured)).sort((a, b) => a.index - b.index);
}

async function untilServing({ queue }: Place, agent: BenchmarkAgent, serving: number): Promise<void> {
  const system = computeClass(agent.description);
  await until(async () => (await queue.state(system)).serving === serving);
}

async function storedOf({ store }: Place, requests: readonly MeasureRequest[]): Promise<readonly Measurement[]> {
  const [first] = requests;
  assert.ok(first);
  return [...(await knownResults(requests.map(buildWanted), fakeAgent().description, store)).measurements()];
}

async function answersLeft({ store }: Place): Promise<number> {
  const shape = (await store.listCollections()).find(({ name }) => name === 'work_answers');
  if (shape === undefined) return 0;
  let left = 0;
  await forgetOrphans(answersIn(store), () => Promise.resolve(++left > 0));
  return left;
}

describe('a queued agent', { timeout: 60_000 }, () => {
  it('shares the work among all agents of its class, each brick once, and keeps their measurements', async (t) => {
    const at = await place(t);
    const first = fakeAgent('machine-1');
    const second = fakeAgent('machine-2');
    at.serve(first);
    at.serve(second);
    await untilServing(at, first, 2);
    const requests = sampleRequests(100);
    const measured = await all(at.queued(fakeAgent()).measure(requests));
    assert.deepEqual(
      measured.map(({ index, measurement }) => [index, measurement.signature]),
      requests.map(({ benchmark }, index) => [index, benchmark.signature]),
    );
    assert.ok(first.measured.length > 0 && second.measured.length > 0);
    assert.equal(first.measured.length + second.measured.length, 100);
    assert.equal((await storedOf(at, requests)).length, 100);
    assert.ok(measured.every(({ isStored }) => isStored === true));
    assert.equal(await answersLeft(at), 0);
  });

  it('continues with other agents if one dies, and uses it again when it answers', async (t) => {
    const at = await place(t);
    let isDead = false;
    const dying = fakeAgent('machine-1');
    const mortal = beforeEach(dying, () => {
      if (dying.measured.length === 3) isDead = true;
      if (isDead) throw new PlatformError('unavailable', 'the agent does not answer');
    });
    const other = fakeAgent('machine-2');
    at.serve(mortal);
    at.serve(other);
    await untilServing(at, other, 2);
    const requests = sampleRequests(40);
    const measured = await all(at.queued(fakeAgent()).measure(requests));
    assert.equal(measured.length, 40);
    // Bricks that the dead agent had stored are not measured again.
    assert.equal(dying.measured.length + other.measured.length, 40);
    assert.deepEqual(await collect(at.queue.failed()), []);
    isDead = false;
    await untilServing(at, other, 2);
  });

  it('asks again for work that agents dropped while its process was suspended', async (t) => {
    const at = await place(t);
    const { clock, suspend, wake } = suspendable();
    const leases = new Leases(at.store, 'work', fast);
    t.after(() => leases.close());
    const agent = fakeAgent();
    let requested = 0;
    at.serve(
      beforeEach(agent, async () => {
        if (++requested !== 2) return;
        suspend();
        const answers = () => collect(answersIn(at.store).find({}));
        await until(async () => (await answers()).length > 0);
        const name = (await answers())[0]?.wanted_by ?? assert.fail();
        while ((await leases.holderOf(name)) !== undefined) await fast.sleep(500);
        setTimeout(wake, 500);
      }),
    );
    await untilServing(at, agent, 1);
    const requests = sampleRequests(40);
    const measured = await all(at.queued(fakeAgent(), clock).measure(requests));
    assert.deepEqual(
      measured.map(({ index }) => index).toSorted((a, b) => a - b),
      [...requests.keys()],
    );
    assert.equal((await storedOf(at, requests)).length, 40);
    assert.equal(await answersLeft(at), 0);
  });

  it('reports the brick that crashes its runtime, and measures all others', async (t) => {
    const at = await place(t);
    const failure = { reason: 'crashed', message: 'the worker process ended by signal SIGSEGV' } as const;
    const agent = fakeAgent('machine-1', {
      latencyOf: ({ signature }) => (signature === signatureOf(5) ? failure : 1.5),
    });
    at.serve(agent);
    await untilServing(at, agent, 1);
    const measured = await all(at.queued(agent).measure(sampleRequests(20)));
    const failed = measured.filter(({ measurement }) => measurement.outcome.kind === 'failure');
    assert.deepEqual(
      failed.map(({ index, measurement }) => [index, measurement.outcome]),
      [[5, { kind: 'failure', ...failure }]],
    );
  });

  it('finds the one brick that always ends its agent, and gives up that one only', async (t) => {
    const at = await place(t);
    const agent = fakeAgent();
    at.serve(
      beforeEach(agent, ({ benchmark }) => {
        if (benchmark.signature === signatureOf(13)) throw new PlatformError('unavailable', 'the agent has ended');
      }),
    );
    await untilServing(at, agent, 1);
    const measured = await all(at.queued(agent).measure(sampleRequests(20)));
    assert.equal(measured.length, 20);
    const failed = measured.filter(({ measurement }) => measurement.outcome.kind === 'failure');
    assert.deepEqual(
      failed.map(({ index }) => index),
      [13],
    );
    const [only] = failed;
    assert.ok(only?.measurement.outcome.kind === 'failure');
    assert.match(only.measurement.outcome.message, /given up by the queue: the agent has ended/);
    assert.equal((await collect(at.queue.failed())).length, 1);
    // Each of the other bricks was measured once, regardless of the bricks that were published with it.
    assert.equal(new Set(agent.measured).size, agent.measured.length);
  });

  it('leaves nothing to measure when it is cancelled', async (t) => {
    const at = await place(t);
    const agent = fakeAgent();
    let isHanging = true;
    let abortedCalls = 0;
    const hanging: BenchmarkAgent = {
      ...agent,
      async *measure(requests, options) {
        if (isHanging) {
          await aborted(options?.signal);
          abortedCalls++;
        }
        yield* agent.measure(requests, options);
      },
    };
    at.serve(hanging);
    await untilServing(at, agent, 1);
    const system = computeClass(agent.description);
    const cancel = new AbortController();
    const measuring = all(at.queued(agent).measure(sampleRequests(100), { signal: cancel.signal }));
    await until(async () => (await at.queue.state(system)).waiting > 0);
    cancel.abort();
    await assertRefused(measuring, 'cancelled');
    await until(() => abortedCalls === 1);
    isHanging = false;
    await until(async () => (await at.queue.state(system)).waiting === 0);
    const measured = await all(at.queued(agent).measure(sampleRequests(1)));
    assert.equal(measured.length, 1);
    assert.deepEqual(agent.measured, [signatureOf(0)]);
    assert.deepEqual(await collect(at.queue.failed()), []);
  });

  it('yields a measurement that is taken again, and lets the caller decide which one is kept', async (t) => {
    const at = await place(t);
    const requests = sampleRequests(3);
    const before = '2026-01-01T00:00:00.000Z';
    const after = '2026-01-01T00:00:01.000Z';
    for await (const { measurement } of fakeAgent('machine-1', { measuredAt: before }).measure(requests)) {
      await at.store.putMeasurement(measurement);
    }
    const agent = fakeAgent('machine-1', { measuredAt: after });
    at.serve(agent);
    await untilServing(at, agent, 1);
    const measured = await all(at.queued(agent).measure(requests));
    assert.deepEqual(
      measured.map(({ measurement, isStored }) => [measurement.measuredAt, isStored]),
      [after, after, after].map((time) => [time, undefined]),
    );
    assert.deepEqual(
      (await storedOf(at, requests)).map(({ measuredAt }) => measuredAt),
      [before, before, before],
    );
  });

  it('measures with its own agent requests that no queue carries, and all requests while no agent serves', async (t) => {
    const at = await place(t);
    const own = fakeAgent();
    const weights = sampleRequests(1).map((request) => {
      return { ...request, benchmark: { ...request.benchmark, weights: '/home/me/model.onnx' } };
    });
    assert.equal((await all(at.queued(own).measure(sampleRequests(2)))).length, 2);
    assert.equal(own.measured.length, 2);
    const serving = fakeAgent('machine-2');
    at.serve(serving);
    await untilServing(at, own, 1);
    const measured = await all(at.queued(own).measure([...weights, ...sampleRequests(4).slice(2)]));
    assert.deepEqual(
      measured.map(({ index, measurement }) => [index, measurement.signature]),
      [
        [0, signatureOf(0)],
        [1, signatureOf(2)],
        [2, signatureOf(3)],
      ],
    );
    assert.equal(own.measured.length, 3);
    assert.deepEqual(serving.measured.toSorted(), [signatureOf(2), signatureOf(3)].toSorted());
  });

  it('gives up if no agent serves any more', async (t) => {
    const at = await place(t);
    const agent = fakeAgent();
    const stop = at.serve(beforeEach(agent, (_request, signal) => aborted(signal)));
    await untilServing(at, agent, 1);
    // A hundred times as fast as `fast`: ten minutes pass at once.
    const hasty: Clock = { now: () => fast.now() * 100, sleep: (ms, signal) => fast.sleep(ms / 100, signal) };
    const measuring = all(at.queued(agent, hasty).measure(sampleRequests(1)));
    void stop();
    await assertRefused(measuring, 'unavailable', /start an agent there with "mlmodelscope agent --queue"/);
  });

  it('fails, and does not wait forever, where an agent has another store', async (t) => {
    const at = await place(t);
    const agent = fakeAgent();
    at.serve(agent, await openMemoryStore());
    await untilServing(at, agent, 1);
    const measuring = all(at.queued(agent).measure(sampleRequests(1)));
    await assertRefused(measuring, 'storage', /another store than the caller \(.+\): name one store/);
    assert.match((await collect(at.queue.failed()))[0]?.reason ?? '', /another store/);
  });

  it('gives nothing up for callers of the same store that have ended', async (t) => {
    const at = await place(t);
    const agent = fakeAgent();
    const body = encodeItem({
      requests: sampleRequests(1).map((request) => ({ request, replaces: undefined })),
      wantedBy: 'batch of a caller that has ended',
      store: await storeId(at.store),
      traceContext: {},
    });
    await at.queue.publish(computeClass(agent.description), { id: 'old', body });
    at.serve(agent);
    await until(async () => (await at.queue.state(computeClass(agent.description))).waiting === 0);
    assert.equal((await all(at.queued(agent).measure(sampleRequests(1)))).length, 1);
    assert.deepEqual(await collect(at.queue.failed()), []);
  });
});

describe('serving work', { timeout: 60_000 }, () => {
  it('gives up messages that are no work, with the reason, and continues', async (t) => {
    const at = await place(t);
    const agent = fakeAgent();
    at.serve(agent);
    await untilServing(at, agent, 1);
    await at.queue.publish(computeClass(agent.description), message('{"measure": "this"}'));
    assert.equal((await all(at.queued(agent).measure(sampleRequests(2)))).length, 2);
    const [failed] = await collect(at.queue.failed());
    assert.match(failed?.reason ?? '', /the message/);
  });

  const ANY_PROBLEM = ['internal', 'not_found', 'manifest', 'timeout', 'model', 'unsupported'] as const;
  for (const code of ANY_PROBLEM) {
    it(`gives up work that fails as ${code}, and continues`, async (t) => {
      const at = await place(t);
      const agent = fakeAgent();
      at.serve(
        beforeEach(agent, ({ benchmark }) => {
          if (benchmark.signature === signatureOf(0)) throw new PlatformError(code, 'it cannot be read');
        }),
      );
      await untilServing(at, agent, 1);
      const measured = await all(at.queued(agent).measure(sampleRequests(3)));
      const failed = measured.filter(({ measurement }) => measurement.outcome.kind === 'failure');
      assert.deepEqual(
        failed.map(({ index }) => index),
        [0],
      );
      assert.match((await collect(at.queue.failed()))[0]?.reason ?? '', /it cannot be read/);
    });
  }

  it('leaves work to others while its machine fails, without counting it as a failure', async (t) => {
    const at = await place(t);
    const agent = fakeAgent();
    let failures = 0;
    at.serve(
      beforeEach(agent, () => {
        if (failures++ < 5) throw new PlatformError('storage', 'the disk is full');
      }),
    );
    await untilServing(at, agent, 1);
    const measured = await all(at.queued(agent).measure(sampleRequests(2)));
    assert.ok(measured.every(({ measurement }) => measurement.outcome.kind === 'samples'));
    assert.ok(failures > 5);
    assert.deepEqual(await collect(at.queue.failed()), []);
  });

  it('measures work once if it arrives twice', async (t) => {
    const at = await place(t);
    const agent = fakeAgent();
    const system = computeClass(agent.description);
    const publish = (id: string, requests: readonly MeasureRequest[]): Promise<void> => {
      const asked = requests.map((request) => ({ request, replaces: undefined }));
      const body = encodeItem({ requests: asked, wantedBy: undefined, traceContext: {} });
      return at.queue.publish(system, { id, body });
    };
    const requests = sampleRequests(4);
    for (const id of ['twice', 'twice', 'same']) await publish(id, requests.slice(0, 3));
    await publish('last', requests.slice(3));
    at.serve(agent);
    await until(async () => (await storedOf(at, requests)).length === 4);
    assert.deepEqual(
      agent.measured,
      requests.map(({ benchmark }) => benchmark.signature),
    );
  });

  it('returns unfinished work when it stops, without counting it as a failure', async (t) => {
    const at = await place(t);
    const agent = fakeAgent();
    const queued = at.queued(agent);
    let measuring: Promise<readonly MeasuredRequest[]> | undefined;
    for (let stops = 0; stops < 5; stops++) {
      let isStarted = false;
      const stop = at.serve(
        beforeEach(agent, (_request, signal) => {
          isStarted = true;
          return aborted(signal);
        }),
      );
      await untilServing(at, agent, 1);
      measuring ??= all(queued.measure(sampleRequests(2)));
      await until(() => isStarted);
      void stop();
      await untilServing(at, agent, 0);
    }
    at.serve(agent);
    assert.equal((await measuring)?.length, 2);
    assert.deepEqual(await collect(at.queue.failed()), []);
  });
});
