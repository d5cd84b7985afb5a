import { Connection } from 'rabbitmq-client';
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { collect } from '../../src/base/collect.js';
import type { BenchmarkAgent, MeasuredRequest } from '../../src/agent/benchmark-agent.js';
import { computeClass } from '../../src/measurement/system.js';
import { createFakeAgent } from '../support/fake-agent.js';
import { openStore } from '../../src/store/open-store.js';
import type { ResultStore } from '../../src/store/result-store.js';
import { openQueue } from '../../src/work/open-queue.js';
import { queuedAgent } from '../../src/work/queued-agent.js';
import type { WorkQueue } from '../../src/work/work-queue.js';
import { needsFerretDb, startFerretDb } from '../store/mongodb/ferretdb-process.js';
import { temporaryFolder } from '../store/temporary-folder.js';
import { until } from '../support/until.js';
import { needsRabbitMq, type RabbitMq, startRabbitMq } from './amqp/rabbitmq-process.js';
import { sampleRequests } from './sample-requests.js';

/** The limit is against hanging only. Most of the tests wait: four at a time. */
const suite = { timeout: 600_000, concurrency: 4 };

const AGENT = fileURLToPath(new URL('./agent-process.js', import.meta.url));

const KILLS = 25;

/** Of an agent that has begun to take work. */
const MAX_LIFE_MS = 300;
const OUTAGE_MS = 30_000;

interface Place {
  readonly broker: RabbitMq;
  readonly queue: WorkQueue;
  readonly store: ResultStore;
  /** Measures through the queue. */
  readonly queued: BenchmarkAgent;
  /** Starts an agent that takes work, on a machine of this name. */
  readonly startAgent: (host: string, clockOffMs?: number) => ChildProcess;
  readonly untilServing: (agents: number) => Promise<void>;
}

/** The class of systems of all agents here. */
const SYSTEM = computeClass(createFakeAgent({ latencyOf: () => 1 }).description);

/** @returns the number of messages that the queue of all agents here had */
async function deleteQueue({ uri }: RabbitMq): Promise<number> {
  const client = new Connection(uri);
  try {
    return (await client.queueDelete(`mlmodelscope.work.${SYSTEM}`)).messageCount;
  } finally {
    await client.close();
  }
}

interface PlaceOptions {
  /** Of the store; without it, an embedded one. */
  readonly uri?: string;
  /** That of earlier tests; without it, one of its own. */
  readonly broker?: RabbitMq;
}

async function place(t: TestContext, { uri, broker: shared }: PlaceOptions = {}): Promise<Place> {
  const data = await temporaryFolder(t);
  const storeUri = uri ?? data;
  const broker = shared ?? (await startRabbitMq(t));
  const warnings = { onWarning: (): void => undefined };
  const store = await openStore(storeUri, warnings);
  t.after(() => store.close());
  const queue = await openQueue(broker.uri, warnings);
  t.after(() => queue.close());
  const agent = createFakeAgent({ latencyOf: () => assert.fail('only the agents of the queue measure') });
  const queued = queuedAgent(queue, agent, store);
  t.after(() => queued.close());
  const untilServing = (agents: number): Promise<void> =>
    until(async () => (await queue.state(SYSTEM)).serving === agents);
  // An earlier test that failed may have left agents, which end soon, and work.
  await untilServing(0);
  await deleteQueue(broker);
  return {
    broker,
    queue,
    store,
    queued,
    startAgent: (host, clockOffMs = 0) => {
      const args = [AGENT, broker.uri, storeUri, host, String(clockOffMs)];
      const env = { ...process.env, XDG_DATA_HOME: data };
      const child = spawn(process.execPath, args, { stdio: 'inherit', env });
      t.after(() => child.kill('SIGKILL'));
      return child;
    },
    untilServing,
  };
}

/** A broker for all tests of a suite; the returned function gives it inside of a test. */
function brokerForSuite(): () => RabbitMq {
  const undone: (() => unknown)[] = [];
  let broker: RabbitMq | undefined;
  before(async () => {
    broker = await startRabbitMq({ after: (undo) => void undone.unshift(undo) });
  });
  after(async () => {
    for (const undo of undone) await undo();
  });
  return () => broker ?? assert.fail('only inside of a test');
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** Every brick has samples, the store has one measurement of each, and the queue has nothing left. */
async function assertWhole(
  { queue, store }: Place,
  measured: readonly MeasuredRequest[],
  bricks: number,
): Promise<void> {
  assert.deepEqual(
    measured.map(({ index }) => index).sort((a, b) => a - b),
    Array.from({ length: bricks }, (_, index) => index),
  );
  assert.ok(measured.every(({ measurement }) => measurement.outcome.kind === 'samples'));
  const stored = (await collect(store.listMeasurements())).map(({ signature }) => signature);
  assert.equal(new Set(stored).size, stored.length);
  assert.equal(stored.length, bricks);
  await until(async () => (await queue.state(SYSTEM)).waiting === 0);
}

describe('agents that take work from a broker', { ...suite, ...needsRabbitMq }, () => {
  it('continue their work after the broker was restarted, and was away for 30 s', async (t) => {
    const at = await place(t);
    for (const host of ['machine-1', 'machine-2']) at.startAgent(host);
    await at.untilServing(2);
    const measured: MeasuredRequest[] = [];
    for await (const one of at.queued.measure(sampleRequests(400))) {
      measured.push(one);
      if (measured.length !== 100) continue;
      await at.broker.signal('SIGTERM');
      await setTimeout(OUTAGE_MS);
      await at.broker.start();
    }
    await assertWhole(at, measured, 400);
  });

  it('continue their work after the database was stopped for 30 s', needsFerretDb, async (t) => {
    const database = await startFerretDb(t);
    const at = await place(t, { uri: `mongodb://${database.address}/shared` });
    for (const host of ['machine-1', 'machine-2']) at.startAgent(host);
    await at.untilServing(2);
    const measured: MeasuredRequest[] = [];
    for await (const one of at.queued.measure(sampleRequests(200))) {
      measured.push(one);
      if (measured.length !== 50) continue;
      await database.signal('SIGTERM');
      await setTimeout(OUTAGE_MS);
      await database.start();
    }
    await assertWhole(at, measured, 200);
  });

  // With a database, since an agent that is suspended while it writes holds the lock of an embedded store.
  it('leave the work of a suspended agent to the other', needsFerretDb, async (t) => {
    const database = await startFerretDb(t);
    const at = await place(t, { uri: `mongodb://${database.address}/shared` });
    const [first] = ['machine-1', 'machine-2'].map((host) => at.startAgent(host));
    await at.untilServing(2);
    const measured: MeasuredRequest[] = [];
    for await (const one of at.queued.measure(sampleRequests(200))) {
      measured.push(one);
      if (measured.length === 50) first?.kill('SIGSTOP');
    }
    await assertWhole(at, measured, 200);
    first?.kill('SIGCONT');
  });

  // The broker stays, so these share one. They take turns, since their agents take the work of the same systems.
  describe('whose broker stays', { ...suite, concurrency: 1 }, () => {
    const broker = brokerForSuite();

    it(`measure everything while one of two is killed at random, ${KILLS} times`, async (t) => {
      const at = await place(t, { broker: broker() });
      const bricks = 800;
      const steady = at.startAgent('machine-1');
      let mortal = at.startAgent('machine-2');
      await at.untilServing(2);
      const measured: MeasuredRequest[] = [];
      let isDone = false;
      const measuring = (async () => {
        for await (const one of at.queued.measure(sampleRequests(bricks))) measured.push(one);
        isDone = true;
      })();
      let kills = 0;
      while (!isDone && kills < KILLS) {
        await setTimeout(Math.random() * MAX_LIFE_MS);
        await kill(mortal);
        kills++;
        await at.untilServing(1);
        mortal = at.startAgent('machine-2');
        await at.untilServing(2);
      }
      t.diagnostic(`${kills} kills while ${bricks} bricks were measured`);
      await measuring;
      await assertWhole(at, measured, bricks);
      assert.equal(steady.exitCode, null);
      // A message that was never acknowledged would wait again.
      for (const agent of [steady, mortal]) await kill(agent);
      await at.untilServing(0);
      assert.equal(await deleteQueue(at.broker), 0);
    });

    it('work with clocks that are an hour off, also if they measure again', async (t) => {
      const at = await place(t, { broker: broker() });
      at.startAgent('machine-1', 3_600_000);
      at.startAgent('machine-2', -3_600_000);
      await at.untilServing(2);
      for (let time = 0; time < 2; time++) {
        const measured = await collect(at.queued.measure(sampleRequests(40)));
        await assertWhole(at, measured, 40);
      }
    });

    it('end on SIGTERM, and leave nothing unacknowledged', async (t) => {
      const at = await place(t, { broker: broker() });
      const agents = ['machine-1', 'machine-2'].map((host) => at.startAgent(host));
      await at.untilServing(2);
      const measuring = (async () => {
        return collect(at.queued.measure(sampleRequests(100)));
      })();
      await setTimeout(500);
      for (const agent of agents) {
        const ended = once(agent, 'exit');
        agent.kill('SIGTERM');
        assert.deepEqual(await ended, [0, null]);
      }
      at.startAgent('machine-3');
      await assertWhole(at, await measuring, 100);
    });
  });
});
