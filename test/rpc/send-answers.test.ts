import { status } from '@grpc/grpc-js';
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { constants } from 'node:http2';
import type { Socket } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { PlatformError } from '../../src/base/errors.js';
import { Connections } from '../../src/rpc/connections.js';
import { FairLoop } from '../../src/rpc/fair-loop.js';
import { LargeAnswer } from '../../src/rpc/large-answer.js';
import { SERVER_LIMITS, type ServerLimits } from '../../src/rpc/limits.js';
import type { MessageFormat } from '../../src/rpc/message-format.js';
import { sendAnswers } from '../../src/rpc/send-answers.js';
import { until } from '../support/until.js';
import { echo, echoServer } from './support/echo.js';
import { type Intercepted, intercept } from './support/fake-call.js';
import { clientOf, handMadeClient, messagePrefix } from './support/hostile.js';
import { assertRefused } from './support/refusal.js';

const deadlineMs = 20_000;

describe('the room for answers', { timeout: 60_000 }, () => {
  test('is the same after answers that their clients have taken', async (t) => {
    const { address } = await echoServer(t, { limits: { answeringBytes: 100 } });
    const client = clientOf(t, address);
    for (let i = 0; i < 3; i++) {
      const answer = await client.unary(echo.repeat, Buffer.alloc(90), { deadlineMs });
      assert.equal(answer.length, 90);
      const tooLarge = client.unary(echo.repeat, Buffer.alloc(110), { deadlineMs });
      await assertRefused(tooLarge, 'exhausted', /no room for more answers/);
    }
  });

  test('of one connection is the same after its answers were taken, and one of any size fits into it', async (t) => {
    const { address } = await echoServer(t, { limits: { answeringBytesPerConnection: 2 ** 20 } });
    const { call } = handMadeClient(t, address, { reads: false });
    const ask = async (mebibytes: number) => {
      const stream = call(echo.large.path);
      stream.end(Buffer.concat([messagePrefix(1), Buffer.of(mebibytes)]));
      await once(stream, 'response');
      return stream;
    };
    for (let i = 0; i < 3; i++) {
      const waiting = await ask(3);
      const refused = await ask(1);
      assert.equal((await refused.resume().ended).grpcStatus, status.RESOURCE_EXHAUSTED);
      waiting.resume();
      assert.equal((await waiting.ended).grpcStatus, status.OK);
    }
  });
});

/** Answers are texts; one is refused by its encoder. */
function formatOf(isPaced: boolean): MessageFormat {
  return {
    decode: (bytes) => ({ request: bytes, valueBytes: 0 }),
    encode(message) {
      if (typeof message !== 'string') throw new PlatformError('internal', 'it is no text');
      return Buffer.from(message);
    },
    isPaced,
  };
}

const PEER = '192.0.2.1:7';

/** Calls on one connection, behind the interceptor. */
function answering(t: TestContext, limits: Partial<ServerLimits> = {}) {
  const all = { ...SERVER_LIMITS, ...limits };
  const connections = new Connections(all);
  const [remoteAddress, remotePort] = PEER.split(':');
  const socket = Object.assign(new EventEmitter(), { remoteAddress, remotePort, destroy: () => undefined });
  connections.add(socket as unknown as Socket);
  t.after(() => void socket.emit('close'));
  t.after(() => connections.destroy());
  const formats = new Map([
    ['/test/Free', formatOf(false)],
    ['/test/Paced', formatOf(true)],
  ]);
  const interceptor = sendAnswers(formats, connections, all, new FairLoop());
  return {
    begin: (path = '/test/Free'): Intercepted => intercept(interceptor, { path, peer: PEER }),
    /** Begins a call and sends its answer; `isTaken` is whether the method was told that the client has it. */
    answer: (message: unknown, path = '/test/Free') => {
      const begun = intercept(interceptor, { path, peer: PEER });
      const told = { isTaken: false };
      begun.outer.sendMessage(message, () => (told.isTaken = true));
      return { ...begun, told };
    },
  };
}

function codes({ call }: Intercepted): readonly unknown[] {
  return call.statuses.map(({ code }) => code);
}

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR } = constants;

const TOO_MUCH = [status.RESOURCE_EXHAUSTED];

describe('an answer', () => {
  test('is sent as bytes, and takes room until its client has taken it', (t) => {
    const { answer } = answering(t, { answeringBytes: 10 });
    const { call, told } = answer('12345678');
    assert.deepEqual(
      call.sent.map(({ message }) => message),
      [Buffer.from('12345678')],
    );
    const refused = answer('123');
    assert.deepEqual([refused.call.sent, codes(refused), told.isTaken], [[], TOO_MUCH, false]);
    assert.deepEqual(codes(answer('12')), []);
    call.sent[0]?.taken();
    assert.equal(told.isTaken, true);
    assert.deepEqual([answer('12345678'), answer('1')].map(codes), [[], TOO_MUCH]);
  });

  test('makes room once where its call ends before, whatever comes later', (t) => {
    const { answer } = answering(t, { answeringBytes: 10 });
    const { call } = answer('12345678');
    call.client.onCancel();
    for (const { taken } of call.sent) taken();
    assert.deepEqual([answer('1234567890'), answer('1')].map(codes), [[], TOO_MUCH]);
  });

  test('that cannot be encoded ends the call with the error, and takes no room', (t) => {
    const { answer } = answering(t, { answeringBytes: 10 });
    const failed = answer(undefined);
    assert.deepEqual([failed.call.sent, codes(failed)], [[], [status.INTERNAL]]);
    assert.deepEqual(codes(answer('1234567890')), []);
  });

  test('of a method without a format is passed on as it is', (t) => {
    const { call } = answering(t).answer('x', '/test/Unknown');
    assert.equal(call.sent[0]?.message, 'x');
  });
});

describe('the time for an answer', () => {
  const limits = { answerMs: 3000 };

  test('is over when the client takes nothing for so long: the stream is reset', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { call } = answering(t, limits).answer('first');
    t.mock.timers.tick(2999);
    assert.deepEqual(call.stream.closedWith, []);
    t.mock.timers.tick(1);
    assert.deepEqual(call.stream.closedWith, [NGHTTP2_CANCEL]);
  });

  test('ends when all is taken, and begins with the next answer', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { call, outer } = answering(t, limits).answer('first');
    call.sent[0]?.taken();
    t.mock.timers.tick(10_000);
    assert.deepEqual(call.stream.closedWith, []);
    outer.sendMessage('second', () => undefined);
    t.mock.timers.tick(3000);
    assert.deepEqual(call.stream.closedWith, [NGHTTP2_CANCEL]);
  });

  test('ends with the call, whose stream is closed once the client had time to end its side', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { call } = answering(t, { answerMs: 500 }).answer('first');
    call.client.onCancel();
    t.mock.timers.tick(999);
    assert.deepEqual(call.stream.closedWith, []);
    t.mock.timers.tick(10_000);
    assert.deepEqual(call.stream.closedWith, [NGHTTP2_NO_ERROR]);
  });
});

describe('the next request of a stream', () => {
  test('is read at once, where the method is not paced or all answers are taken', (t) => {
    const { begin, answer } = answering(t);
    for (const one of [answer('x'), begin('/test/Paced')]) {
      one.outer.startRead();
      assert.equal(one.call.reads, 1);
    }
  });

  test('is read once all answers so far are taken, where the method is paced', (t) => {
    const { call, outer } = answering(t).answer('first', '/test/Paced');
    outer.sendMessage('2', () => undefined);
    outer.startRead();
    call.sent[0]?.taken();
    assert.equal(call.reads, 0);
    call.sent[1]?.taken();
    assert.equal(call.reads, 1);
    outer.sendMessage('third', () => undefined);
    call.sent[2]?.taken();
    assert.equal(call.reads, 1);
  });
});

describe('a large answer', () => {
  const PIECE = 256 * 1024;
  const body = Buffer.alloc(2 * PIECE + 1, 'body');

  /** `open` is called when it is opened. */
  function large(seen: string[], open = (): void => undefined): LargeAnswer {
    return new LargeAnswer(() => {
      open();
      seen.push('opened');
      return Promise.resolve({ head: Buffer.from('head'), body, close: () => void seen.push('closed') });
    });
  }

  async function takeAll({ call }: Pick<Intercepted, 'call'>, isDone: () => boolean): Promise<Buffer> {
    const pieces: Uint8Array[] = [];
    await until(() => {
      const next = call.stream.written[pieces.length];
      if (next !== undefined) {
        pieces.push(next.piece);
        next.taken();
      }
      return isDone();
    });
    return Buffer.concat(pieces);
  }

  test('is sent in pieces, each when the client has taken the one before, and closed', async (t) => {
    const seen: string[] = [];
    const answered = answering(t).answer(large(seen));
    const { stream } = answered.call;
    await until(() => stream.written.length === 1);
    const sent = await takeAll(answered, () => answered.told.isTaken);
    assert.ok(Buffer.concat([messagePrefix(4 + body.length), Buffer.from('head'), body]).equals(sent));
    assert.deepEqual(
      stream.written.map(({ piece }) => piece.length),
      [9, PIECE, PIECE, 1],
    );
    assert.deepEqual(seen, ['opened', 'closed']);
    assert.deepEqual([codes(answered), stream.closedWith], [[], []]);
  });

  test('waits until the one before it on its connection is sent', async (t) => {
    const { answer } = answering(t);
    const seen: string[] = [];
    const first = answer(large(seen));
    const second = answer(large(seen));
    await takeAll(first, () => first.told.isTaken);
    await until(() => second.call.stream.written.length === 1);
    assert.deepEqual(seen, ['opened', 'closed', 'opened']);
  });

  test('that fails ends the call with the error, and lets the next one begin', async (t) => {
    const { answer } = answering(t);
    const failed = answer(
      large([], () => {
        throw new PlatformError('storage', 'the disk is gone');
      }),
    );
    await until(() => failed.call.statuses.length === 1);
    assert.deepEqual([codes(failed), failed.told.isTaken], [[status.INTERNAL], false]);
    const next = answer(large([]));
    await until(() => next.call.stream.written.length === 1);
  });

  test('is closed where its call ends meanwhile, without a status', async (t) => {
    const { answer } = answering(t);
    const seen: string[] = [];
    const ended = answer(large(seen));
    await until(() => ended.call.stream.written.length === 1);
    ended.call.client.onCancel();
    await until(() => seen.includes('closed'));
    assert.deepEqual([codes(ended), ended.call.stream.written.length], [[], 1]);
    const next = answer(large([]));
    await until(() => next.call.stream.written.length === 1);
  });

  test('has as much time as any answer, for all of its pieces together', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let nowMs = 0;
    t.mock.method(performance, 'now', () => nowMs);
    const { call } = answering(t, { answerMs: 3000 }).answer(large([]));
    const piece = (index: number): Promise<void> => turn(() => call.stream.written.length > index);
    await piece(0);
    nowMs = 2000;
    call.stream.written[0]?.taken();
    await piece(1);
    t.mock.timers.tick(999);
    assert.deepEqual(call.stream.closedWith, []);
    t.mock.timers.tick(1);
    assert.deepEqual(call.stream.closedWith, [NGHTTP2_CANCEL]);
  });
});

/** Waits by turns of the event loop, without timers. */
async function turn(isDone: () => boolean): Promise<void> {
  while (!isDone()) await new Promise((resolve) => setImmediate(resolve));
}
