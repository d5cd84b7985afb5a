import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { collect } from '../../src/base/collect.js';
import { connectEvaluations, type EvaluationClient } from '../../src/evaluation/client/evaluation-client.js';
import { isFinal, type LoggedEvent } from '../../src/evaluation/event.js';
import type { Submission } from '../../src/evaluation/submission.js';
import { type Running, workplace, type Workplace } from '../cli/support/command.js';
import { chain, MANY_BRICKS, MANY_OPERATORS } from '../cli/support/tiny-models.js';
import { needsFerretDb, startFerretDb } from '../store/mongodb/ferretdb-process.js';
import { until } from '../support/until.js';

/**
 * The limit is against hanging only: a silent server is waited for, and everything is started twice. Each test has
 * its own database and servers; the longest waits while the others run.
 */
const suite = { timeout: 600_000, concurrency: 2 };
const ID = 'evaluation-1';

/** Three times as long as the silence after which a server counts as dead. */
const OUTAGE_MS = 30_000;

/** An evaluation that measures twenty bricks of each model, each in a process of its own. JSON is YAML. */
function submission(modelCount = 1): Submission {
  const sizes = Array.from({ length: modelCount }, (_, index) => 8 + index);
  const models = sizes.map((size) => [`many-${size}.onnx`, chain(MANY_OPERATORS, [size])] as const);
  const manifest = { ...MANY_BRICKS, models: models.map(([name]) => name) };
  const files = new Map([['evaluation.yml', Buffer.from(JSON.stringify(manifest))], ...models]);
  return { manifestPath: 'evaluation.yml', files, graphs: new Map() };
}

interface ServerHere {
  readonly server: Running;
  readonly address: string;
  readonly client: EvaluationClient;
}

async function startServer(t: TestContext, place: Workplace, store: string): Promise<ServerHere> {
  const server = place.start(['serve', '--listen', '127.0.0.1:0', '--plugins', 'dlbricks', '--store', store]);
  const [, address = ''] = await server.said(/server listening on (\S+)/);
  const client = connectEvaluations(address);
  t.after(() => client.close());
  await until(async () => (await client.plugins()).length > 0);
  return { server, address, client };
}

/** Two servers of one database and an agent of both; the first one is in the middle of an evaluation. */
async function atWork(t: TestContext, modelCount = 1) {
  const place = await workplace(t);
  const database = await startFerretDb(t);
  const store = `mongodb://${database.address}/shared`;
  const first = await startServer(t, place, store);
  const second = await startServer(t, place, store);
  const agent = place.start(['agent', '--listen', '127.0.0.1:0', '--server', `${first.address},${second.address}`]);
  for (const { address } of [first, second]) await agent.said(new RegExp(`registered with ${address}`));
  await first.client.submit(ID, submission(modelCount));
  await until(async () => (await first.client.get(ID)).last?.event.kind === 'measuring');
  return { first, second, database };
}

async function told({ client }: ServerHere): Promise<readonly LoggedEvent[]> {
  return (await collect(client.follow(ID, 0))).filter(({ event }) => event.kind !== 'measuring');
}

/** Asserts that the events are those of an evaluation that was done once, in this many runs, with none left out. */
function assertDoneOnce(story: readonly LoggedEvent[], runs: number): void {
  assert.deepEqual(
    story.map(({ sequence }) => sequence),
    story.map((_, index) => index + 1),
  );
  const kinds = story.map(({ event }) => event.kind);
  assert.equal(kinds.filter((kind) => kind === 'started').length, runs, kinds.join());
  assert.equal(story.filter(({ event }) => isFinal(event)).length, 1, kinds.join());
  assert.equal(kinds.at(-1), 'done');
  const coverages = story.flatMap(({ event }) => (event.kind === 'estimate' ? [event.coverage] : []));
  assert.deepEqual([...new Set(coverages)], [1]);
}

describe('two servers of one database', { ...suite, ...needsFerretDb }, () => {
  it('wait while the database is stopped, and none takes over from the other', async (t) => {
    // The bricks take some seconds, so that the evaluation has not ended before the database stops.
    const { first, second, database } = await atWork(t, 4);
    await database.signal('SIGTERM');
    await setTimeout(OUTAGE_MS);
    const restartedAt = new Date().toISOString();
    await database.start();
    const story = await told(first);
    assertDoneOnce(story, 1);
    assertDoneOnce(await told(second), 1);
    assert.ok((story.at(-1)?.at ?? '') > restartedAt, 'the evaluation ended before the database stopped');
  });

  it('finish an evaluation whose server is killed', async (t) => {
    const { first, second } = await atWork(t);
    first.server.process.kill('SIGKILL');
    const story = await told(second);
    assertDoneOnce(story, 2);
    assert.equal((await second.client.get(ID)).evaluation.state, 'done');
  });

  it('finish an evaluation whose server is suspended, and this server reports the same when it continues', async (t) => {
    const { first, second } = await atWork(t);
    first.server.process.kill('SIGSTOP');
    const story = await told(second);
    assertDoneOnce(story, 2);
    first.server.process.kill('SIGCONT');
    assert.deepEqual(await told(first), story);
  });

  it('run evaluations at the same time', async (t) => {
    const { first, second } = await atWork(t);
    await second.client.submit('evaluation-2', submission());
    const stories: Promise<unknown>[] = [];
    for (const id of [ID, 'evaluation-2']) {
      const last = async (): Promise<void> => {
        for await (const { event } of second.client.follow(id, 0)) {
          if (event.kind === 'estimate') assert.equal(event.coverage, 1);
          if (isFinal(event)) assert.equal(event.kind, 'done');
        }
      };
      stories.push(last());
    }
    await Promise.all(stories);
    assert.equal((await first.client.get('evaluation-2')).evaluation.state, 'done');
  });
});
