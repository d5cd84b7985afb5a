import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { after, before } from 'node:test';
import { Connection } from 'rabbitmq-client';
import { collect } from '../../src/base/collect.js';
import { connectEvaluations, type EvaluationClient } from '../../src/evaluation/client/evaluation-client.js';
import type { LoggedEvent } from '../../src/evaluation/event.js';
import type { Submission } from '../../src/evaluation/submission.js';
import type { Measurement } from '../../src/measurement/measurement.js';
import { computeClass } from '../../src/measurement/system.js';
import { openStore } from '../../src/store/open-store.js';
import { assertNoOrphan } from '../../torture/checks/no-orphan.js';
import { type Running, type StartOptions, workplace, type Workplace } from '../cli/support/command.js';
import { type FerretDb, needsFerretDb, startFerretDb } from '../store/mongodb/ferretdb-process.js';
import type { Lifetime } from '../support/lifetime.js';
import { MAX_WAIT_MS, until } from '../support/until.js';
import { needsRabbitMq, type RabbitMq, startRabbitMq } from './amqp/rabbitmq-process.js';

/** Options for describe and it: skips if there is no broker or no database. */
export const needsPlatform = { skip: needsRabbitMq.skip || needsFerretDb.skip };

/** The processes that the platforms of a suite share. */
export interface Engines {
  readonly broker: RabbitMq;
  readonly database: FerretDb;
}

/** A broker and a database for all tests of a suite; the returned function gives them inside of a test. */
export function enginesForSuite(): () => Engines {
  const undone: (() => unknown)[] = [];
  let engines: Engines | undefined;
  before(async () => {
    const lifetime: Lifetime = { after: (undo) => undone.unshift(undo) };
    const [broker, database] = await Promise.all([startRabbitMq(lifetime), startFerretDb(lifetime)]);
    engines = { broker, database };
  });
  after(async () => {
    for (const undo of undone) await undo();
  });
  return () => engines ?? assert.fail('only inside of a test');
}

export interface ServerHere {
  readonly server: Running;
  readonly address: string;
  readonly client: EvaluationClient;
}

/** Servers and agents in processes of their own, which share a queue and a store. */
export interface QueuedPlatform {
  readonly place: Workplace;
  readonly broker: RabbitMq;
  readonly store: string;
  readonly startServer: (options?: StartOptions) => Promise<ServerHere>;
  /** Starts an agent that is registered with these servers, and takes work. */
  readonly startAgent: (servers: readonly ServerHere[], options?: StartOptions) => Promise<Running>;
}

export async function queuedPlatform(t: Lifetime, { broker, database }: Engines): Promise<QueuedPlatform> {
  const place = await workplace(t);
  const temporary = place.path('tmp');
  await mkdir(temporary);
  const store = `mongodb://${database.address}/of-${randomUUID()}`;
  const shared = { MLMODELSCOPE_QUEUE: broker.uri, MLMODELSCOPE_STORE: store, TMPDIR: temporary };
  const start = (args: readonly string[], { env, ...options }: StartOptions = {}): Running =>
    place.start(args, { ...options, env: { ...shared, ...env } });
  return {
    place,
    broker,
    store,
    startServer: async (options) => {
      const server = start(['serve', '--listen', '127.0.0.1:0', '--plugins', 'dlbricks'], options);
      const [, address = ''] = await server.said(/server listening on (\S+)/);
      const client = connectEvaluations(address);
      t.after(() => client.close());
      await until(async () => (await client.plugins()).length > 0);
      return { server, address, client };
    },
    startAgent: async (servers, options) => {
      const addresses = servers.map(({ address }) => address);
      const agent = start(['agent', '--listen', '127.0.0.1:0', '--server', addresses.join()], options);
      for (const address of addresses) await agent.said(new RegExp(`registered with ${address}`));
      await agent.said(/takes work for systems/);
      return agent;
    },
  };
}

/** An evaluation of a model at the layer cut: at granularity 1, each layer is a brick. JSON is YAML. */
export function submissionOf(model: Uint8Array, { runs = 5, granularity = 1 } = {}): Submission {
  const manifest = {
    dlspec: 'evaluation/v1',
    name: 'queued',
    version: '1.0.0',
    models: ['model.onnx'],
    settings: { cut: 'layer', granularity, remeasure: 'none' },
    protocol: { warmup_runs: 1, runs, min_runs: runs },
  };
  const files = new Map([
    ['evaluation.yml', Buffer.from(JSON.stringify(manifest))],
    ['model.onnx', model],
  ]);
  return { manifestPath: 'evaluation.yml', files, graphs: new Map() };
}

/** Waits until a part of an evaluation's bricks is measured. */
export function untilUnderWay({ client }: ServerHere, id: string): Promise<void> {
  return until(async () => {
    const last = (await client.get(id)).last?.event;
    return last?.kind === 'measuring' && last.done >= 2 && last.done < last.total;
  });
}

/** All events that a server sends of an evaluation, to its end. */
export async function told({ client }: ServerHere, id: string): Promise<readonly LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  const signal = AbortSignal.timeout(MAX_WAIT_MS);
  try {
    for await (const logged of client.follow(id, 0, signal)) events.push(logged);
  } catch (error) {
    assert.fail(`${String(error)} after these events: ${JSON.stringify(events)}`);
  }
  return events;
}

/**
 * Stops a platform's processes, and checks the state that remains.
 *
 * @returns the stored measurements, one of each brick
 * @throws if a process does not end, a message waits or was given up, or a brick has several measurements
 */
export async function stopWhole(
  { place, broker, store }: QueuedPlatform,
  processes: readonly Running[],
): Promise<readonly Measurement[]> {
  for (const { process } of processes) process.kill('SIGTERM');
  await assertNoOrphan(place);
  const results = await openStore(store, { access: 'read' });
  const stored = await collect(results.listMeasurements());
  await results.close();
  assert.equal(new Set(stored.map(({ signature }) => signature)).size, stored.length);
  const [first] = stored;
  assert.ok(first);
  const client = new Connection(broker.uri);
  try {
    for (const queue of [`mlmodelscope.work.${computeClass(first.system)}`, 'mlmodelscope.failed']) {
      // A message that was never acknowledged waits again, because its agent has ended.
      const { messageCount } = await client.queueDelete(queue);
      assert.equal(messageCount, 0, queue);
    }
  } finally {
    await client.close();
  }
  return stored;
}
