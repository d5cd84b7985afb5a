import { status } from '@grpc/grpc-js';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { constants } from 'node:http2';
import { describe, test } from 'node:test';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { RpcClient } from '../../src/rpc/client.js';
import { until } from '../support/until.js';
import { echo } from './support/echo.js';
import {
  clientOf,
  type HandMadeCall,
  handMadeClient,
  messagePrefix,
  pour,
  rawSocket,
  serverForSuite,
  serverProcess,
} from './support/hostile.js';
import { assertRefused, refusal } from './support/refusal.js';

const MIB = 2 ** 20;
const deadlineMs = 20_000;

async function assertAnswers(client: RpcClient): Promise<void> {
  assert.equal((await client.unary(echo.repeat, Buffer.from('hello'), { deadlineMs })).toString(), 'hello');
}

describe('many clients', { timeout: 60_000 }, () => {
  test('200 at once are all answered', async (t) => {
    const { address } = await serverProcess(t);
    // Channels of the same process and address would share one connection.
    const clients = Array.from({ length: 200 }, () => handMadeClient(t, address));
    const body = Buffer.alloc(10_000, 7);
    const ends = clients.flatMap(({ call }) =>
      Array.from({ length: 5 }, () => {
        const stream = call(echo.repeat.path);
        stream.end(Buffer.concat([messagePrefix(body.length), body]));
        return stream.ended;
      }),
    );
    const statuses = (await Promise.all(ends)).map(({ grpcStatus }) => grpcStatus);
    assert.deepEqual(statuses, new Array<number>(1000).fill(status.OK));
  });

  test('more connections than the limit are closed, and there is room again when others go', async (t) => {
    const { address } = await serverProcess(t, { connections: 3 });
    const sockets = [await rawSocket(t, address), await rawSocket(t, address), await rawSocket(t, address)];
    const fourth = await rawSocket(t, address);
    await fourth.closed;

    sockets[0]?.socket.destroy();
    await sockets[0]?.closed;
    await assertAnswers(clientOf(t, address));
  });

  test('thousands of streams that are opened and reset at once do no harm', async (t) => {
    const { address, isRunning } = await serverProcess(t);
    const { call, session } = handMadeClient(t, address);
    // Node.js closes a connection that does this, sooner or later.
    for (let i = 0; i < 5000 && !session.destroyed; i++) {
      call(echo.hang.path).close(8);
      if (i % 100 === 0) await setImmediate();
    }
    await assertAnswers(clientOf(t, address));
    assert.ok(isRunning());
  });
});

describe('large requests', { timeout: 300_000 }, () => {
  test('an upload of 1 GB as one message is refused at its first bytes, and takes no memory', async (t) => {
    const { address, peakBytes } = await serverProcess(t);
    await assertAnswers(clientOf(t, address));
    const before = await peakBytes();
    const stream = handMadeClient(t, address).call(echo.repeat.path);
    stream.write(messagePrefix(1e9));
    void pour(stream, 1e9);
    const { grpcStatus, message } = await stream.ended;

    assert.equal(grpcStatus, status.RESOURCE_EXHAUSTED);
    assert.match(message, /larger than max/);
    assert.ok((await peakBytes()) - before < 100 * MIB);
    await assertAnswers(clientOf(t, address));
  });

  test('1 GB in 16 requests one after the other is served in the memory of a few', async (t) => {
    const { address, peakBytes } = await serverProcess(t);
    const client = clientOf(t, address);
    const body = Buffer.alloc(63 * MIB, 1);
    for (let i = 0; i < 16; i++) {
      const answer = await client.unary(echo.repeat, body, { deadlineMs });
      assert.equal(answer.length, body.length);
    }
    assert.ok((await peakBytes()) < 1100 * MIB, `${(await peakBytes()) / MIB} MiB`);
  });

  test('of clients that send much and never finish, those with the most bytes are closed', async (t) => {
    const { address, peakBytes, isRunning } = await serverProcess(t, { receivingBytes: 64 * MIB });
    const before = await peakBytes();
    const clients = Array.from({ length: 20 }, () => handMadeClient(t, address));
    let closed = 0;
    const pours = clients.map(async ({ call }) => {
      const stream = call(echo.repeat.path);
      void stream.ended.then(() => closed++);
      stream.write(messagePrefix(60 * MIB));
      await pour(stream, 30 * MIB);
    });
    await Promise.all(pours);

    // 600 MiB are sent; of clients with 30 MiB each, two fit.
    await until(() => closed >= 18);
    assert.ok((await peakBytes()) - before < 350 * MIB, `${((await peakBytes()) - before) / MIB} MiB`);
    assert.ok(isRunning());
    await assertAnswers(clientOf(t, address));
  });

  test('requests that wait for their answers are limited in total, and there is room again when they end', async (t) => {
    const { address } = await serverProcess(t, { heldBytes: 32 * MIB });
    const client = clientOf(t, address);
    const body = Buffer.alloc(10 * MIB);
    const controller = new AbortController();
    const hanging: Promise<unknown>[] = [];
    const hang = (): void => {
      const ended = client.unary(echo.hang, body, { deadlineMs, signal: controller.signal });
      hanging.push(ended.catch(() => undefined));
    };
    const isRefused = async (): Promise<boolean> => {
      try {
        await client.unary(echo.repeat, body, { deadlineMs });
        return false;
      } catch (error) {
        assert.ok(refusal('exhausted', /no room/)(error));
        return true;
      }
    };
    // Three fit. If one finds no room because of a request that is being answered, another one takes its place.
    for (let i = 0; i < 3; i++) hang();
    while (!(await isRefused())) hang();
    controller.abort();
    await Promise.all(hanging);
    await until(async () => !(await isRefused()));
  });

  test('a method that takes only small requests refuses a larger one, with its limit', async (t) => {
    const { address } = await serverProcess(t);
    const call = clientOf(t, address).unary(echo.small, Buffer.alloc(5 * MIB), { deadlineMs });
    await assertRefused(call, 'usage', /5242880 bytes; this method takes at most 4194304/);
  });

  test('a compressed message that would be too large is refused', async (t) => {
    const { address, peakBytes } = await serverProcess(t);
    const bomb = gzipSync(Buffer.alloc(300 * MIB));
    const stream = handMadeClient(t, address).call(echo.repeat.path, { 'grpc-encoding': 'gzip' });
    stream.end(Buffer.concat([messagePrefix(bomb.length, true), bomb]));

    assert.equal((await stream.ended).grpcStatus, status.RESOURCE_EXHAUSTED);
    assert.ok((await peakBytes()) < 300 * MIB, `${(await peakBytes()) / MIB} MiB`);
  });
});

describe('clients that do not read', { timeout: 60_000 }, () => {
  /** Asks for an answer of this many MiB. */
  const ask = async ({ call }: ReturnType<typeof handMadeClient>, mebibytes: number): Promise<HandMadeCall> => {
    const stream = call(echo.large.path);
    stream.end(Buffer.concat([messagePrefix(1), Buffer.from([mebibytes])]));
    await once(stream, 'response');
    return stream;
  };
  /**
   * Waits until `most` calls have ended.
   *
   * @returns the end of each: the status, or a reset; undefined if it has not ended
   */
  const statusesOf = async (
    streams: readonly HandMadeCall[],
    most: number,
  ): Promise<readonly (number | 'reset' | undefined)[]> => {
    const statuses = new Array<number | 'reset' | undefined>(streams.length).fill(undefined);
    for (const [i, { ended }] of streams.entries()) {
      void ended.then(({ grpcStatus }) => (statuses[i] = grpcStatus ?? 'reset'));
    }
    await until(() => statuses.filter((status) => status !== undefined).length >= most);
    return statuses;
  };

  test('have answers waiting for them up to a limit in total, and others are still answered', async (t) => {
    const { address, peakBytes } = await serverProcess(t, { answeringBytes: 64 * MIB, answerMs: 600_000 });
    const before = await peakBytes();
    const asked: HandMadeCall[] = [];
    for (let i = 0; i < 20; i++) asked.push(await ask(handMadeClient(t, address, { reads: false }), 30));
    const ends = await statusesOf(asked, 18);

    // The two that fit, and the memory that encoding and framing of another one takes for a moment.
    assert.ok((await peakBytes()) - before < 300 * MIB, `${((await peakBytes()) - before) / MIB} MiB`);
    await assertAnswers(clientOf(t, address));
    // Of 600 MiB, two answers fit.
    assert.deepEqual(
      ends.filter((end) => end !== undefined),
      new Array<number>(18).fill(status.RESOURCE_EXHAUSTED),
    );
  });

  test('have no more than the largest answer waiting on one connection', async (t) => {
    const { address } = await serverProcess(t, { answeringBytesPerConnection: 10 * MIB });
    const client = handMadeClient(t, address, { reads: false });
    const asked = [await ask(client, 6), await ask(client, 6), await ask(client, 6)];
    const ends = await statusesOf(asked, 2);
    assert.deepEqual(ends, [undefined, status.RESOURCE_EXHAUSTED, status.RESOURCE_EXHAUSTED]);
  });

  test('are given up, and there is room again', async (t) => {
    const { address } = await serverProcess(t, { answeringBytes: 10 * MIB, answerMs: 5_000 });
    const stream = await ask(handMadeClient(t, address, { reads: false }), 8);
    const asked = clientOf(t, address).unary(echo.large, Buffer.from([8]), { deadlineMs });
    await assertRefused(asked, 'exhausted', /no room for more answers/);
    await once(stream, 'close');
    assert.equal(stream.rstCode, constants.NGHTTP2_CANCEL);
    const answer = await clientOf(t, address).unary(echo.large, Buffer.from([8]), { deadlineMs });
    assert.equal(answer.length, 8 * MIB);
  });

  test('have their next request to reflection read only when they have taken the answer', async (t) => {
    const { address, peakBytes, isRunning } = await serverProcess(t);
    const before = await peakBytes();
    const { call } = handMadeClient(t, address, { reads: false });
    const stream = call('/grpc.reflection.v1.ServerReflection/ServerReflectionInfo');
    // A million times "which services are there?", in 7 bytes each.
    stream.write(Buffer.alloc(7_000_000, Buffer.concat([messagePrefix(2), Buffer.from('\x3a\x00')])));
    await setTimeout(3000);
    assert.ok((await peakBytes()) - before < 100 * MIB, `${((await peakBytes()) - before) / MIB} MiB`);
    assert.ok(isRunning());
  });
});

describe('clients that never end their side', { timeout: 60_000 }, () => {
  test('of a complete request have it given up', async (t) => {
    const { address } = await serverProcess(t, { requestMs: 400 });
    const stream = handMadeClient(t, address).call(echo.repeat.path);
    stream.write(Buffer.concat([messagePrefix(1), Buffer.from('y')]));
    assert.equal((await stream.ended).grpcStatus, status.DEADLINE_EXCEEDED);
  });

  test('of a stream that the server has ended have it closed', async (t) => {
    const { address } = await serverProcess(t);
    const { call, session } = handMadeClient(t, address);
    const stream = call('/grpc.reflection.v1.ServerReflection/ServerReflectionInfo');
    stream.write(messagePrefix(5000));
    stream.write(Buffer.alloc(5000));
    assert.equal((await stream.ended).grpcStatus, status.INVALID_ARGUMENT);
    await once(stream, 'close');
    assert.ok(!session.closed);
  });
});

test(
  'more calls than the limit are refused, but the server still answers health checks',
  { timeout: 60_000 },
  async (t) => {
    const { address } = await serverProcess(t, { calls: 3 });
    const { call } = handMadeClient(t, address);
    const hanging = [1, 2, 3].map(() => call(echo.hang.path));
    for (const stream of hanging) stream.write(messagePrefix(10));
    const client = clientOf(t, address);
    await until(async () => {
      const refused = await client
        .unary(echo.repeat, Buffer.from('x'), { deadlineMs })
        .then(() => false, refusal('exhausted'));
      return refused;
    });
    const stream = call('/grpc.health.v1.Health/Check');
    stream.end(messagePrefix(0));
    assert.equal((await stream.ended).grpcStatus, status.OK);
    for (const hung of hanging) hung.close(constants.NGHTTP2_CANCEL);
    await until(() =>
      client.unary(echo.repeat, Buffer.from('x'), { deadlineMs }).then(
        () => true,
        () => false,
      ),
    );
  },
);

describe('slow clients', { timeout: 60_000 }, () => {
  const server = serverForSuite({ firstCallMs: 400 });
  const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
  // HEADERS of stream 1 whose block goes on (no END_HEADERS), without content.
  const headers = Buffer.from([0, 0, 0, 1, 0, 0, 0, 0, 1]);

  for (const [name, bytes] of [
    ['sends nothing', Buffer.alloc(0)],
    ['sends half of the preface', preface.subarray(0, 10)],
    ['makes no call', Buffer.concat([preface, settings])],
    ['never ends its headers', Buffer.concat([preface, settings, headers])],
  ] as const) {
    test(`a connection that ${name} is closed`, async (t) => {
      const { address } = server();
      const { socket, closed } = await rawSocket(t, address);
      if (bytes.length > 0) socket.write(bytes);
      await closed;
    });
  }

  test('a request that comes byte by byte is given up', async (t) => {
    const { address } = await serverProcess(t, { requestMs: 400 });
    const stream = handMadeClient(t, address).call(echo.repeat.path);
    stream.write(messagePrefix(1000));
    const dribble = setInterval(() => stream.write(Buffer.alloc(1)), 50);
    t.after(() => clearInterval(dribble));
    const { grpcStatus, message } = await stream.ended;

    assert.equal(grpcStatus, status.DEADLINE_EXCEEDED);
    assert.match(message, /no request came within 0\.4 s/);
    // The stream may end with an error, because a byte may be under way.
    await until(() => stream.closed);
  });

  test('100 of them do not delay other clients', async (t) => {
    const { address } = await serverProcess(t, { requestMs: 5000 });
    for (let i = 0; i < 100; i++) {
      const stream = handMadeClient(t, address).call(echo.repeat.path);
      stream.write(messagePrefix(1000));
    }
    await assertAnswers(clientOf(t, address));
  });
});

describe('malformed requests', { timeout: 60_000 }, () => {
  const server = serverForSuite({ firstCallMs: 2000 });

  for (const [name, text] of [
    ['HTTP/1.1', 'POST /test.Echo/Repeat HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a TLS handshake on a plain port', Buffer.from('16030100f4010000f00303', 'hex')],
    ['noise', Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 7919) % 256))],
    [
      'noise after the preface',
      Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), Buffer.alloc(500, 0xa5)]),
    ],
  ] as const) {
    test(`${name}: the connection is closed, others are served`, async (t) => {
      const { address, isRunning } = server();
      const { socket, closed } = await rawSocket(t, address);
      socket.write(text);
      await closed;
      assert.ok(isRunning());
      await assertAnswers(clientOf(t, address));
    });
  }

  const good = Buffer.concat([messagePrefix(1), Buffer.from('y')]);
  const calls: readonly [string, string, Record<string, string>, Buffer, status | undefined][] = [
    ['an unknown method', '/test.Echo/Nothing', {}, good, status.UNIMPLEMENTED],
    ['an unknown service', '/nothing/Nothing', {}, good, status.UNIMPLEMENTED],
    ['no message', echo.repeat.path, {}, Buffer.alloc(0), status.UNIMPLEMENTED],
    ['two messages', echo.repeat.path, {}, Buffer.concat([good, good]), status.UNIMPLEMENTED],
    ['half a prefix', echo.repeat.path, {}, good.subarray(0, 3), status.UNIMPLEMENTED],
    [
      'a message that does not decode',
      echo.picky.path,
      {},
      Buffer.concat([messagePrefix(1), Buffer.from('x')]),
      status.INVALID_ARGUMENT,
    ],
    [
      'damaged compression',
      echo.repeat.path,
      { 'grpc-encoding': 'gzip' },
      Buffer.concat([messagePrefix(1, true), Buffer.from('y')]),
      status.INTERNAL,
    ],
    [
      'an unknown compression',
      echo.repeat.path,
      { 'grpc-encoding': 'br' },
      Buffer.concat([messagePrefix(1, true), Buffer.from('y')]),
      status.UNIMPLEMENTED,
    ],
    ['an invalid deadline', echo.repeat.path, { 'grpc-timeout': 'soon' }, good, status.INTERNAL],
  ];
  for (const [name, path, headers, body, expected] of calls) {
    test(`${name}: ${status[expected ?? 0]}`, async (t) => {
      const { address } = server();
      const stream = handMadeClient(t, address).call(path, headers);
      stream.end(body);
      assert.equal((await stream.ended).grpcStatus, expected);
      await assertAnswers(clientOf(t, address));
    });
  }

  test('another content type is answered with an HTTP status', async (t) => {
    const { address } = server();
    const stream = handMadeClient(t, address).call(echo.repeat.path, { 'content-type': 'application/json' });
    stream.end('{}');
    assert.equal((await stream.ended).httpStatus, 415);
  });
});
