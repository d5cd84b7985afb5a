import { type handleUnaryCall, Server, status } from '@grpc/grpc-js';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { describe, test } from 'node:test';
import { PlatformError } from '../../src/base/errors.js';
import { findToken, hashToken } from '../../src/rpc/accepted-tokens.js';
import { createRpcClient } from '../../src/rpc/client.js';
import { bind, createRpcServer } from '../../src/rpc/server.js';
import { until } from '../support/until.js';
import { echo, echoServer } from './support/echo.js';
import { clientOf, handMadeClient, messagePrefix, rawSocket } from './support/hostile.js';
import { assertRefused, refusal } from './support/refusal.js';

const deadlineMs = 20_000;

const DONE = new PlatformError('unavailable', 'done');

test('a listener survives errors of single connections, and fails with the cause where it cannot listen', async (t) => {
  const listener = net.createServer();
  const another = net.createServer();
  t.after(() => listener.close());
  const address = await bind(listener, { host: 'localhost', port: 0 }, '127.0.0.1');
  assert.match(address, /^localhost:[1-9]\d*$/);
  listener.emit('error', new Error('too many open files'));
  const taken = bind(another, { host: 'localhost', port: Number(address.split(':')[1]) }, '127.0.0.1');
  await assert.rejects(taken, (error: Error) => {
    assert.match(String((error.cause as Error).message), /EADDRINUSE/);
    return refusal('unavailable', /^cannot listen on localhost:\d+: /)(error);
  });
});

describe('a server', { timeout: 60_000 }, () => {
  test('knows the holder of a call’s token, and how much its connection has sent', async (t) => {
    const tokens = [{ name: 'alice', role: 'full', sha256: hashToken('secret') }] as const;
    const acceptedTokens = { find: (shown: string) => findToken(shown, tokens) };
    for (const [security, holder] of [
      [{ acceptedTokens }, 'alice'],
      [{ token: 'secret' }, 'token'],
      [{}, ''],
    ] as const) {
      const server = createRpcServer({ security });
      const seen: unknown[] = [];
      const whoami: handleUnaryCall<Buffer, Buffer> = (call, callback) => {
        seen.push(server.holderOf(call), server.receivedBytes(call) > 5000);
        callback(null, call.request);
      };
      server.addService({ whoami: echo.repeat }, { whoami });
      const address = await server.listen({ host: '127.0.0.1', port: 0 });
      t.after(() => server.close(DONE));
      const client = createRpcClient(address, 'server', { security: { token: 'secret' } });
      t.after(() => client.close());
      await client.unary(echo.repeat, Buffer.alloc(5000), { deadlineMs });
      assert.deepEqual(seen, [holder, true]);
    }
  });

  test('takes requests of 4 MiB, and larger ones where a method says so', async (t) => {
    const { address } = await echoServer(t);
    const client = clientOf(t, address);
    const most = 4 * 2 ** 20;
    assert.equal((await client.unary(echo.small, Buffer.alloc(most), { deadlineMs })).length, most);
    assert.equal((await client.unary(echo.repeat, Buffer.alloc(most + 1), { deadlineMs })).length, most + 1);
    const refused = refusal('usage', /has 4194305 bytes; this method takes at most 4194304/);
    await assert.rejects(client.unary(echo.small, Buffer.alloc(most + 1), { deadlineMs }), refused);
  });

  test('closes further connections than its limit, and states how many calls it takes on one', async (t) => {
    const { address } = await echoServer(t, { limits: { connections: 1, callsPerConnection: 7 } });
    const { session, call } = handMadeClient(t, address);
    const [{ maxConcurrentStreams }] = (await once(session, 'remoteSettings')) as [{ maxConcurrentStreams: number }];
    assert.equal(maxConcurrentStreams, 7);
    await (
      await rawSocket(t, address)
    ).closed;
    const stream = call(echo.repeat.path);
    stream.end(messagePrefix(0));
    assert.equal((await stream.ended).grpcStatus, status.OK);
  });

  test('stops within seconds, also where the library never says that it has', async (t) => {
    const { server, address } = await echoServer(t);
    const idle = await rawSocket(t, address);
    t.mock.method(Server.prototype, 'tryShutdown', () => undefined);
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const stopped = server.close(DONE);
    t.mock.timers.tick(2000);
    t.mock.timers.reset();
    await Promise.all([stopped, idle.closed]);
  });

  test('for its own process alone has no health check and no reflection', async (t) => {
    const { address } = await echoServer(t, { isPrivate: true });
    const { call } = handMadeClient(t, address);
    for (const path of ['/grpc.health.v1.Health/Check', '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo']) {
      const stream = call(path);
      stream.end(messagePrefix(0));
      assert.equal((await stream.ended).grpcStatus, status.UNIMPLEMENTED, path);
    }
  });

  test('tells waiting clients why it stops, closes their connections, and stops once', async (t) => {
    const { server, address, answered } = await echoServer(t);
    const client = clientOf(t, address);
    const waiting = assertRefused(
      client.unary(echo.hang, Buffer.from('x'), { deadlineMs }),
      'unavailable',
      /^it is updated$/,
    );
    const idle = await rawSocket(t, address);
    await until(() => answered.get('hang') === 1);
    const stopped = server.close(new PlatformError('unavailable', 'it is updated'));
    assert.equal(server.close(DONE), stopped);
    await Promise.all([waiting, stopped, idle.closed]);
    const again = net.connect(Number(address.split(':')[1]), '127.0.0.1');
    await assert.rejects(once(again, 'connect'), { code: 'ECONNREFUSED' });
  });
});
