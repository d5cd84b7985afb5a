import { type handleServerStreamingCall, status } from '@grpc/grpc-js';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { createRpcServer } from '../../src/rpc/server.js';
import { PlatformError } from '../../src/base/errors.js';
import { echo, echoServer } from './support/echo.js';
import { clientOf, handMadeClient, messagePrefix } from './support/hostile.js';
import { refusal } from './support/refusal.js';

const MIB = 2 ** 20;
const deadlineMs = 10_000;

/** Asks for an answer of two mebibytes. */
const TWO_MIB = Buffer.of(2);

describe('a server keeps account', { timeout: 30_000 }, () => {
  test('of calls: there is room again when one has ended', async (t) => {
    const { address } = await echoServer(t, { limits: { calls: 1 } });
    const client = clientOf(t, address);
    for (let i = 0; i < 3; i++) await client.unary(echo.repeat, Buffer.from('x'), { deadlineMs });
  });

  test('of missing requests: the call gets an error within seconds, then the connection is closed', async (t) => {
    const { address } = await echoServer(t, { limits: { requestMs: 50 } });
    const { session, call } = handMadeClient(t, address);
    const closed = once(session, 'close');
    const { grpcStatus, message } = await call(echo.repeat.path).ended;
    assert.deepEqual([grpcStatus, message], [status.DEADLINE_EXCEEDED, 'no request came within 0.05 s']);
    await closed;
  });

  test('of answers: there is room again when one is taken', async (t) => {
    const { address } = await echoServer(t, { limits: { answeringBytes: 3 * MIB } });
    const client = clientOf(t, address);
    for (let i = 0; i < 3; i++) {
      assert.equal((await client.unary(echo.large, TWO_MIB, { deadlineMs })).length, 2 * MIB);
    }
  });

  test('of answers: there is room again when a client that does not take its answer disconnects', async (t) => {
    const { address } = await echoServer(t, { limits: { answeringBytes: 3 * MIB } });
    const { session, call } = handMadeClient(t, address, { reads: false });
    const held = call(echo.large.path);
    held.end(Buffer.concat([messagePrefix(1), TWO_MIB]));
    await once(held, 'response');
    const client = clientOf(t, address);
    const isAnswered = (): Promise<boolean> => {
      const asked = client.unary(echo.large, TWO_MIB, { deadlineMs });
      return asked.then(
        () => true,
        (error: unknown) => {
          if (refusal('exhausted', /room for more answers/)(error)) return false;
          throw error;
        },
      );
    };
    while (await isAnswered());
    session.destroy();
    while (!(await isAnswered()));
  });

  test('of a stream: answers that its client has taken make room for the next ones', async (t) => {
    const server = createRpcServer({ limits: { answeringBytes: 3 * MIB } });
    const stream: handleServerStreamingCall<Buffer, Buffer> = (call) => {
      void server.calls.stream(call, async () => {
        for (let i = 0; i < 8; i++) await new Promise((resolve) => call.write(Buffer.alloc(MIB), resolve));
      });
    };
    server.addService({ stream: echo.count }, { stream });
    const address = await server.listen({ host: '127.0.0.1', port: 0 });
    t.after(() => server.close(new PlatformError('unavailable', 'done')));
    let bytes = 0;
    const answers = clientOf(t, address).stream(echo.count, Buffer.of(), { deadlineMs });
    for await (const answer of answers) bytes += answer.length;
    assert.equal(bytes, 8 * MIB);
  });

  test('of streams that it has ended: one whose client never ends its side is closed, the connection is not', async (t) => {
    const { address } = await echoServer(t);
    const { session, call } = handMadeClient(t, address);
    const stream = call('/grpc.reflection.v1.ServerReflection/ServerReflectionInfo');
    stream.write(Buffer.concat([messagePrefix(5000), Buffer.alloc(5000)]));
    assert.equal((await stream.ended).grpcStatus, status.INVALID_ARGUMENT);
    await once(stream, 'close');
    assert.ok(!session.closed);
  });
});

test('a port that is in use is named, with a remedy', async (t) => {
  const { address } = await echoServer(t);
  const port = Number(address.split(':')[1]);
  const refused = refusal(
    'unavailable',
    new RegExp(`^cannot listen on 127\\.0\\.0\\.1:${port}: .*choose another address$`),
  );
  await assert.rejects(createRpcServer().listen({ host: '127.0.0.1', port }), refused);
});
