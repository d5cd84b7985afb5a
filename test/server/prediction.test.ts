import { status } from '@grpc/grpc-js';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import os from 'node:os';
import { describe, test, type TestContext } from 'node:test';
import { connectPredictions } from '../../src/agent/client/prediction-client.js';
import { startAgent } from '../../src/agent/services/server.js';
import { createDirectory } from '../../src/directory/agent-directory.js';
import { ModelManifest } from '../../src/generated/carml/org/dlframework/registry.js';
import {
  ImagesRequest,
  PredictorCloseRequest,
  PredictorOpenRequest,
  PredictService,
  ResetRequest,
} from '../../src/generated/mlmodelscope/org/dlframework/predictor.js';
import { PredictionForwarding } from '../../src/server/prediction/forwarding.js';
import { startServer } from '../../src/server/server.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { coloredPictures } from '../agent/support/colored-pictures.js';
import { foundIn, predictClient } from '../agent/support/predict-client.js';
import { predictionModels } from '../agent/support/prediction-models.js';
import { assertStatus, hasStatus, rawClient } from '../agent/support/raw-client.js';
import { offer } from '../directory/support/offer.js';
import { until } from '../support/until.js';

/** An address at which nothing listens. */
const NOBODY = '127.0.0.1:1';

interface KnownAgent {
  /** Absent for an agent that is started here. */
  readonly address?: string;
  readonly models: readonly string[];
  readonly frameworkVersion?: string;
}

/** A server that knows these agents, in this order. */
async function serverWith(t: TestContext, agents: readonly KnownAgent[]) {
  const directory = createDirectory({ leaseMs: Infinity });
  const addresses: string[] = [];
  for (const { address, models, frameworkVersion = '1.30.0' } of agents) {
    let at = address;
    if (at === undefined) {
      const agent = await startAgent({ resolveModel: predictionModels() });
      t.after(() => agent.close());
      at = agent.address;
    }
    const offered = models.map((name) => ModelManifest.fromPartial({ name, version: '1.0.0' }));
    directory.register(offer({ address: at, tls: false, frameworkVersion, models: offered }));
    addresses.push(at);
  }
  const store = await openMemoryStore();
  const server = await startServer({ listen: { host: '127.0.0.1', port: 0 }, store, directory });
  t.after(() => server.close());
  const client = predictClient(server.address);
  t.after(() => client.close());
  const raw = rawClient(server.address);
  t.after(() => raw.close());
  const open = (request: Partial<PredictorOpenRequest>) => {
    return raw.unary(PredictService.open, PredictorOpenRequest.fromPartial(request));
  };
  return { server, client, raw, open, addresses };
}

describe('predicting through a server', { timeout: 300_000 }, () => {
  test('gives the results of the agent that has the model', async (t) => {
    const { server, client, addresses } = await serverWith(t, [
      { address: NOBODY, models: ['another'] },
      { models: ['classifier'] },
    ]);
    const pictures = await coloredPictures(3);
    const direct = predictClient(addresses[1] ?? '');
    t.after(() => direct.close());
    const expected = await direct.images(await direct.open('classifier'), pictures);

    const id = await client.open('classifier');
    assert.deepEqual(foundIn(await client.images(id, pictures)), foundIn(expected));
    await client.reset(id);
    assert.deepEqual(foundIn(await client.images(id, pictures, { batchSize: 2 })), foundIn(expected));
    assert.equal((await client.dataset(id, 'synthetic', '2')).responses.length, 2);
    await assertStatus(client.urls(id, ['http://127.0.0.1/']), status.INVALID_ARGUMENT, /points at this machine/);

    const each = connectPredictions(server.address, 'server');
    t.after(() => each.close());
    const { modelName, system, hostname } = await each.describe(id, t.signal);
    assert.deepEqual([modelName, system.framework, hostname], ['classifier', 'onnxruntime', os.hostname()]);
    const images = [...pictures, Buffer.from('no picture')].map((data, i) => ({ id: String(i), data }));
    const outcomes: string[] = [];
    for await (const { outcome } of each.predictEach(id, { $case: 'images', value: { images } }, t.signal)) {
      outcomes.push(outcome.kind);
    }
    assert.deepEqual(outcomes, ['features', 'features', 'features', 'failure']);

    await client.closeModel(id);
    await assertStatus(client.images(id, pictures), status.NOT_FOUND, /through this server; open one/);
  });

  test('uses another agent if one does not answer', async (t) => {
    const { client } = await serverWith(t, [{ address: NOBODY, models: ['relu'] }, { models: ['relu'] }]);
    const id = await client.open('relu');
    assert.equal((await client.dataset(id, 'synthetic', '1')).responses.length, 1);
  });

  test('uses only the requested agent', async (t) => {
    const { open } = await serverWith(t, [{ address: NOBODY, models: ['relu'] }, { models: ['relu'] }]);
    const options = { agent: NOBODY };
    const asked = open(PredictorOpenRequest.fromPartial({ modelName: 'relu', options }));
    await assertStatus(asked, status.UNAVAILABLE, /127\.0\.0\.1:1 does not answer/);
  });

  test('gives for each agent the reason why it does not fit', async (t) => {
    const { open } = await serverWith(t, [
      { address: NOBODY, models: ['relu'], frameworkVersion: '1.10.0' },
      { address: '127.0.0.1:2', models: ['other'] },
    ]);
    const request = { modelName: 'relu', frameworkName: 'ONNX Runtime', frameworkVersion: '^1.20' };
    await assertStatus(
      open(request),
      status.FAILED_PRECONDITION,
      /127\.0\.0\.1:1: expected ONNX Runtime \^1\.20, found onnxruntime 1\.10\.0\n {2}127\.0\.0\.1:2: it does not have the model "relu"/,
    );
  });

  test('has no model that no agent has, as an agent that does not have it', async (t) => {
    const { open, addresses } = await serverWith(t, [{ models: ['relu'] }, { address: NOBODY, models: ['other'] }]);
    const agent = rawClient(addresses[0] ?? '');
    t.after(() => agent.close());
    const request = PredictorOpenRequest.fromPartial({ modelName: 'nothing' });
    await assertStatus(open(request), status.NOT_FOUND, /no registered agent has the model "nothing"; `/);
    await assertStatus(agent.unary(PredictService.open, request), status.NOT_FOUND, /nothing/);
    const version = { modelName: 'relu', modelVersion: '^99' };
    await assertStatus(open(version), status.NOT_FOUND, /the model "relu" \^99/);
    const { open: only } = await serverWith(t, [{ address: NOBODY, models: ['other'] }]);
    await assertStatus(only(request), status.NOT_FOUND, /no registered agent has the model "nothing"/);
  });

  test('refuses an invalid request before it asks an agent', async (t) => {
    const { open, raw } = await serverWith(t, [{ address: NOBODY, models: ['relu'] }]);
    const none = hasStatus(status.INVALID_ARGUMENT, /predictor\.id is empty; `Open` gives/);
    await assert.rejects(raw.unary(PredictService.images, ImagesRequest.fromPartial({})), none);
    await assert.rejects(raw.unary(PredictService.close, PredictorCloseRequest.fromPartial({})), none);
    await assert.rejects(raw.unary(PredictService.reset, ResetRequest.fromPartial({})), none);
    const nobody = ResetRequest.fromPartial({ id: 'nobody' });
    const closed = hasStatus(status.NOT_FOUND, /no model is open under the id "nobody" through this server/);
    await assert.rejects(raw.unary(PredictService.reset, nobody), closed);
    await assertStatus(open({}), status.INVALID_ARGUMENT, /model_name is empty/);
    const wrong = { modelName: 'relu', modelVersion: 'newest of all' };
    await assertStatus(open(wrong), status.INVALID_ARGUMENT, /model_version: "newest of all" is not/);
  });

  test('remembers the models that were used last', async (t) => {
    const agent = await startAgent({ resolveModel: predictionModels() });
    t.after(() => agent.close());
    const directory = createDirectory({ leaseMs: Infinity });
    const models = [ModelManifest.fromPartial({ name: 'relu', version: '1.0.0' })];
    directory.register(offer({ address: agent.address, tls: false, models }));
    const forwarding = new PredictionForwarding(directory, {}, 2);
    t.after(() => forwarding.close());
    const open = async () =>
      (await forwarding.open(PredictorOpenRequest.fromPartial({ modelName: 'relu' }), t.signal)).id;
    const first = await open();
    const second = await open();
    forwarding.clientFor(first);
    const third = await open();
    for (const id of [first, third]) {
      const request = PredictorCloseRequest.fromPartial({ predictor: { id } });
      await forwarding.clientFor(id).unary(PredictService.close, request, { deadlineMs: 10_000 });
    }
    assert.throws(() => forwarding.clientFor(second), { code: 'not_found' });
  });

  test('closes the connection to an agent that is gone, unless models are open there', async (t) => {
    const directory = createDirectory({ leaseMs: Infinity });
    const models = [ModelManifest.fromPartial({ name: 'relu', version: '1.0.0' })];
    const register = (address: string) => directory.register(offer({ address, tls: false, models }));
    const leave = (address: string) =>
      directory.unregister(directory.list().find((one) => one.address === address)?.id ?? assert.fail());
    const one = await startAgent({ resolveModel: predictionModels() });
    const other = await startAgent({ resolveModel: predictionModels() });
    for (const agent of [one, other]) t.after(() => agent.close());
    const forwarding = new PredictionForwarding(directory, {});
    t.after(() => forwarding.close());
    const open = async () =>
      (await forwarding.open(PredictorOpenRequest.fromPartial({ modelName: 'relu' }), t.signal)).id;
    const close = (id: string, client = forwarding.clientFor(id)) => {
      const request = PredictorCloseRequest.fromPartial({ predictor: { id } });
      return client.unary(PredictService.close, request, { deadlineMs: 10_000 });
    };
    register(one.address);
    const first = await open();
    const second = await open();
    const client = forwarding.clientFor(first);
    assert.equal(forwarding.clientFor(second), client, 'an agent has one connection');
    leave(one.address);
    register(other.address);
    const third = await open();
    assert.notEqual(forwarding.clientFor(third), client);
    await close(first);
    forwarding.forget(first);
    assert.throws(() => forwarding.clientFor(first), { code: 'not_found' });
    await close(second);
    forwarding.forget(second);
    await open();
    await assert.rejects(close('any', client), /shut down/);
  });

  test('says what every agent answered where several cannot serve', async (t) => {
    const { open } = await serverWith(t, [
      { address: NOBODY, models: ['relu'] },
      { address: '127.0.0.1:2', models: ['relu'] },
    ]);
    await assertStatus(
      open({ modelName: 'relu' }),
      status.FAILED_PRECONDITION,
      /127\.0\.0\.1:1 does not answer[\s\S]*127\.0\.0\.1:2 does not answer/,
    );
    const { open: alone } = await serverWith(t, []);
    await assertStatus(alone({ modelName: 'relu' }), status.UNAVAILABLE, /no agent is registered/);
  });

  test('leaves its agents when it ends', async (t) => {
    const agent = await startAgent({ resolveModel: predictionModels() });
    t.after(() => agent.close());
    const sockets: net.Socket[] = [];
    const between = net.createServer((socket) => {
      sockets.push(socket);
      const { hostname, port } = new URL(`http://${agent.address}`);
      socket.pipe(net.connect(Number(port), hostname).on('error', () => {})).pipe(socket.on('error', () => {}));
    });
    await once(between.listen(0, '127.0.0.1'), 'listening');
    t.after(() => between.close());
    const address = `127.0.0.1:${(between.address() as net.AddressInfo).port}`;
    const { server, client } = await serverWith(t, [{ address, models: ['relu'] }]);
    await client.open('relu');
    assert.equal(sockets.length, 1);
    await server.close();
    await until(() => sockets.every(({ readableEnded }) => readableEnded));
  });

  test('forgets a model that the agent does not have any more', async (t) => {
    const { client, addresses } = await serverWith(t, [{ models: ['relu'] }]);
    const direct = predictClient(addresses[0] ?? '');
    t.after(() => direct.close());
    const id = await client.open('relu');
    await direct.closeModel(id);
    await assertStatus(client.dataset(id, 'synthetic', '1'), status.NOT_FOUND, /no model is open/);
    await assertStatus(client.dataset(id, 'synthetic', '1'), status.NOT_FOUND, /through this server/);
  });
});
