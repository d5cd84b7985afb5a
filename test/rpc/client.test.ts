import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  Server,
  ServerCredentials,
  type ServerWritableStream,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { PlatformError } from '../../src/base/errors.js';
import { BenchmarkServiceService } from '../../src/generated/mlmodelscope/benchmark/v1/benchmark.js';
import { RegistryService } from '../../src/generated/carml/org/dlframework/registry.js';
import { createRpcClient } from '../../src/rpc/client.js';
import { createRpcServer } from '../../src/rpc/server.js';
import { freePort } from '../support/free-port.js';
import { until } from '../support/until.js';
import { addEcho, echo, echoServer } from './support/echo.js';
import { clientOf } from './support/hostile.js';
import { assertRefused, refusal } from './support/refusal.js';

/** A server that answers UNAVAILABLE until it was called often enough. */
async function flakyServer(t: TestContext, failures: number) {
  const server = new Server();
  let called = 0;
  const answer = (_: unknown, callback: (error: Partial<ServiceError> | null, value?: object) => void): void => {
    called++;
    if (called <= failures) callback({ code: status.UNAVAILABLE, details: 'not yet' });
    else callback(null, { manifests: [], agents: [], values: [] });
  };
  server.addService(RegistryService, {
    frameworkManifests: answer,
    frameworkAgents: answer,
    modelManifests: answer,
    modelAgents: answer,
  });
  server.addService(BenchmarkServiceService, {
    describeSystem: answer,
    inferTypes: answer,
    optimize: answer,
    measure: (call: ServerWritableStream<unknown, unknown>) => {
      called++;
      call.emit('error', { code: status.UNAVAILABLE, details: 'not yet' });
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
  const client = createRpcClient(`127.0.0.1:${port}`, 'server');
  t.after(() => {
    client.close();
    server.forceShutdown();
  });
  return { client, called: () => called };
}

const deadlineMs = 10_000;

describe('an RPC client', { timeout: 30_000 }, () => {
  test('repeats a read that the server did not answer', async (t) => {
    const { client, called } = await flakyServer(t, 2);
    await client.unary(RegistryService.frameworkManifests, { frameworkName: '', frameworkVersion: '' }, { deadlineMs });
    assert.equal(called(), 3);
  });

  test('gives up after three attempts', async (t) => {
    const { client, called } = await flakyServer(t, 100);
    const call = client.unary(
      BenchmarkServiceService.inferTypes,
      { benchmark: undefined, steeringValues: false },
      { deadlineMs },
    );
    await assertRefused(call, 'unavailable', /not yet/);
    assert.equal(called(), 3);
  });

  test('makes a measurement once', async (t) => {
    const { client, called } = await flakyServer(t, 100);
    const request = { benchmark: undefined, runOptions: undefined, protocol: undefined };
    const first = client
      .stream(BenchmarkServiceService.measure, request, { deadlineMs })
      [Symbol.asyncIterator]()
      .next();
    await assertRefused(first, 'unavailable');
    assert.equal(called(), 1);
  });

  test('does not wait past the deadline', async (t) => {
    const { address } = await echoServer(t);
    const client = createRpcClient(address, 'server');
    t.after(() => client.close());
    const call = client.unary(echo.hang, Buffer.from('x'), { deadlineMs: 300 });
    await assertRefused(call, 'timeout', /does not answer in time/);
  });

  test('connects anew after a connection on which the other side said nothing', async (t) => {
    const port = await freePort();
    const silent = createServer().listen(port, '127.0.0.1');
    await once(silent, 'listening');
    const accepted: Socket[] = [];
    silent.on('connection', (socket) => accepted.push(socket.on('error', () => undefined)));
    const client = createRpcClient(`127.0.0.1:${port}`, 'server', { connectLimitMs: 300 });
    t.after(() => client.close());
    const call = client.unary(echo.repeat, Buffer.from('x'), { deadlineMs });
    await assertRefused(call, 'unavailable', /does not answer \(no connection within 0\.3 s\)/);
    silent.close();
    const server = createRpcServer();
    addEcho(server);
    await server.listen({ host: '127.0.0.1', port });
    t.after(() => server.close(new PlatformError('unavailable', 'the server is shutting down')));
    // A busy machine may take longer than the limit.
    const again = () => client.unary(echo.repeat, Buffer.from('x'), { deadlineMs });
    await until(async () => (await again().catch(() => undefined))?.toString() === 'x');
    for (const socket of accepted) socket.destroy();
  });

  test('gives no advice on addresses and TLS once the server has answered', async (t) => {
    const { server, address } = await echoServer(t);
    const client = createRpcClient(address, 'agent');
    t.after(() => client.close());
    await client.unary(echo.repeat, Buffer.from('x'), { deadlineMs });
    await server.close(new PlatformError('unavailable', 'the server is shutting down'));
    const call = client.unary(echo.repeat, Buffer.from('x'), { deadlineMs });
    await assertRefused(call, 'unavailable', /does not answer \(.*\); it did before: see whether it still runs/);
  });

  test('throws the reason of the aborted signal', async (t) => {
    const { address, answered } = await echoServer(t);
    const client = createRpcClient(address, 'server');
    t.after(() => client.close());
    const controller = new AbortController();
    const refused = assertRefused(
      client.unary(echo.hang, Buffer.from('x'), { deadlineMs, signal: controller.signal }),
      'timeout',
      /enough/,
    );
    await until(() => answered.has('hang'));
    controller.abort(new PlatformError('timeout', 'enough'));
    await refused;
  });

  test('gives the answers of a stream one by one, and cancels it when the loop is left', async (t) => {
    const { address } = await echoServer(t);
    const client = createRpcClient(address, 'server');
    t.after(() => client.close());
    const seen: number[] = [];
    for await (const answer of client.stream(echo.count, Buffer.from([1, 2, 3, 4]), { deadlineMs })) {
      seen.push(answer[0] ?? 0);
      if (seen.length === 3) break;
    }
    assert.deepEqual(seen, [1, 2, 3]);
  });

  test('leaves no listeners at a signal that is never aborted', async (t) => {
    const { address } = await echoServer(t);
    const client = createRpcClient(address, 'server');
    t.after(() => client.close());
    const { signal } = new AbortController();
    await client.unary(echo.repeat, Buffer.from('x'), { deadlineMs, signal });
    const answers: Buffer[] = [];
    for await (const answer of client.stream(echo.count, Buffer.from('ab'), { deadlineMs, signal }))
      answers.push(answer);
    assert.equal(answers.length, 2);
    assert.deepEqual(getEventListeners(signal, 'abort'), []);
  });

  test('begins no call after its signal was aborted', async (t) => {
    const { address, answered } = await echoServer(t);
    const client = createRpcClient(address, 'server');
    t.after(() => client.close());
    const signal = AbortSignal.abort(new PlatformError('timeout', 'enough'));
    const cancelled = refusal('timeout', /enough/);
    await assert.rejects(client.unary(echo.repeat, Buffer.from('x'), { deadlineMs, signal }), cancelled);
    const first = client.stream(echo.count, Buffer.from('x'), { deadlineMs, signal })[Symbol.asyncIterator]().next();
    await assert.rejects(first, cancelled);
    assert.throws(() => client.duplex(echo.count, { deadlineMs, signal }), cancelled);
    assert.equal(answered.size, 0);
  });

  test('cancels the call on the server when the loop is left', async (t) => {
    const server = createRpcServer();
    let isCancelled = false;
    const stream: handleServerStreamingCall<Buffer, Buffer> = (call) => {
      call.once('cancelled', () => (isCancelled = true));
      call.write(call.request);
    };
    server.addService({ stream: echo.count }, { stream });
    const address = await server.listen({ host: '127.0.0.1', port: 0 });
    t.after(() => server.close(new PlatformError('unavailable', 'done')));
    const client = clientOf(t, address);
    for await (const answer of client.stream(echo.count, Buffer.from('x'), { deadlineMs })) {
      assert.equal(answer.toString(), 'x');
      break;
    }
    await until(() => isCancelled);
  });

  test('leaves no listener of a stream in both directions at a signal, and cancels that with it', async (t) => {
    const { address } = await echoServer(t);
    const client = clientOf(t, address);
    const controller = new AbortController();
    const listeners = (): number => getEventListeners(controller.signal, 'abort').length;
    const call = client.duplex(echo.count, { deadlineMs, signal: controller.signal });
    call.on('error', () => undefined).resume();
    assert.equal(listeners(), 1);
    call.end(Buffer.from('ab'));
    await once(call, 'close');
    assert.equal(listeners(), 0);
    const hanging = client.duplex(echo.hang, { deadlineMs, signal: controller.signal });
    hanging.resume().end(Buffer.from('x'));
    const failed = once(hanging, 'error') as Promise<ServiceError[]>;
    controller.abort();
    assert.equal((await failed)[0]?.code, status.CANCELLED);
  });

  test('sends its headers and its token with each call', async (t) => {
    const server = createRpcServer();
    const handed: unknown[] = [];
    const unary: handleUnaryCall<Buffer, Buffer> = ({ metadata, request }, callback) => {
      handed.push([metadata.get('x-trace'), metadata.get('authorization')]);
      callback(null, request);
    };
    server.addService({ unary: echo.repeat }, { unary });
    const address = await server.listen({ host: '127.0.0.1', port: 0 });
    t.after(() => server.close(new PlatformError('unavailable', 'done')));
    const client = createRpcClient(address, 'server', { headers: { 'x-trace': 'one' }, security: { token: 'secret' } });
    t.after(() => client.close());
    for (let i = 0; i < 2; i++) await client.unary(echo.repeat, Buffer.from('x'), { deadlineMs });
    await clientOf(t, address).unary(echo.repeat, Buffer.from('x'), { deadlineMs });
    const own = [['one'], ['Bearer secret']];
    assert.deepEqual(handed, [own, own, [[], []]]);
  });

  test('connects to agents and servers itself, whatever proxy the environment names', async (t) => {
    const before = process.env['grpc_proxy'];
    t.after(() => {
      if (before === undefined) delete process.env['grpc_proxy'];
      else process.env['grpc_proxy'] = before;
    });
    process.env['grpc_proxy'] = 'http://127.0.0.1:1';
    const { address } = await echoServer(t);
    const client = clientOf(t, address.replace('127.0.0.1', 'localhost'));
    assert.equal((await client.unary(echo.repeat, Buffer.from('x'), { deadlineMs })).toString(), 'x');
  });

  test('calls an answer that it cannot decode no fault of its caller', (t) => {
    const client = clientOf(t, '127.0.0.1:1');
    assert.equal(
      client.decodeAnswer(() => 7),
      7,
    );
    const cause = new PlatformError('usage', 'no such element type');
    assert.throws(
      () =>
        client.decodeAnswer(() => {
          throw cause;
        }),
      (error: PlatformError) => {
        assert.equal(error.cause, cause);
        return refusal('internal', /the server at 127\.0\.0\.1:1 .* does not understand: no such element type/)(error);
      },
    );
  });

  test('tells once that the connection is gone, or that there is none', async (t) => {
    const { server, address } = await echoServer(t);
    const client = clientOf(t, address);
    let told = 0;
    client.onceDisconnected(() => told++);
    assert.equal(told, 1);
    await client.unary(echo.repeat, Buffer.from('x'), { deadlineMs });
    client.onceDisconnected(() => told++);
    await client.unary(echo.repeat, Buffer.from('x'), { deadlineMs });
    assert.equal(told, 1);
    await server.close(new PlatformError('unavailable', 'done'));
    await until(() => told === 2);
  });

  test('names the server whose call broke off, for an error that is no status', () => {
    const client = createRpcClient('127.0.0.1:1', 'server');
    const failure = client.failure(new Error('socket hang up'));
    assert.equal(failure.message, 'the call to the server at 127.0.0.1:1 broke off: socket hang up');
    client.close();
  });

  test('names the address without a listener, and says what to do', async (t) => {
    const client = createRpcClient('127.0.0.1:1', 'server');
    t.after(() => client.close());
    const request = { frameworkName: '', frameworkVersion: '' };
    const call = client.unary(RegistryService.frameworkAgents, request, { deadlineMs });
    await assertRefused(call, 'unavailable', /ECONNREFUSED.*mlmodelscope serve/);
  });

  test('refuses an address that is not HOST:PORT', () => {
    for (const address of ['', 'localhost', 'localhost:99999', 'localhost:port']) {
      assert.throws(
        () => createRpcClient(address, 'agent'),
        refusal('usage', new RegExp(`^the address of the agent is "${address}"; expected HOST:PORT, for example`)),
      );
    }
  });
});
