import { status } from '@grpc/grpc-js';
import assert from 'node:assert/strict';
import { constants } from 'node:http2';
import { describe, test } from 'node:test';
import { PlatformError } from '../../src/base/errors.js';
import type { Connections } from '../../src/rpc/connections.js';
import { FairLoop } from '../../src/rpc/fair-loop.js';
import { SERVER_LIMITS, type ServerLimits } from '../../src/rpc/limits.js';
import type { MessageFormat } from '../../src/rpc/message-format.js';
import { receiveRequests } from '../../src/rpc/receive-requests.js';
import { until } from '../support/until.js';
import { echo, echoServer } from './support/echo.js';
import { type Intercepted, intercept } from './support/fake-call.js';
import { handMadeClient, messagePrefix } from './support/hostile.js';

test('calls that are refused make no room for others, calls that end do', { timeout: 60_000 }, async (t) => {
  const { address, answered } = await echoServer(t, { limits: { calls: 1 } });
  const { call } = handMadeClient(t, address);
  const hanging = call(echo.hang.path);
  hanging.end(messagePrefix(0));
  await until(() => answered.get('hang') === 1);
  const ask = async () => {
    const stream = call(echo.repeat.path);
    stream.end(messagePrefix(0));
    return (await stream.ended).grpcStatus;
  };
  for (let i = 0; i < 5; i++) assert.equal(await ask(), status.RESOURCE_EXHAUSTED);
  hanging.close(constants.NGHTTP2_CANCEL);
  await until(async () => (await ask()) === status.OK);
});

const HEALTH = '/grpc.health.v1.Health/Check';

/** A request is text; each character of it is a value that takes a byte. `!` is damaged. */
const format: MessageFormat = {
  decode(bytes, mostValueBytes) {
    const request = bytes.toString();
    if (request === '!') throw new PlatformError('usage', 'the request is damaged');
    if (request.length > mostValueBytes) throw new PlatformError('exhausted', 'too many values');
    return { request, valueBytes: request.length };
  },
  encode: () => assert.fail(),
  isPaced: false,
};

/** Calls behind the interceptor. `account` has what their connections are told. */
function receiving(limits: Partial<ServerLimits> = {}) {
  const account: string[] = [];
  const connections = {
    receive: (peer: string) => ({
      delivered: (bytes: number) => void account.push(`${peer} delivered ${bytes}`),
      end: () => void account.push(`${peer} ended`),
      giveUp: () => void account.push(`${peer} given up`),
    }),
  } as unknown as Connections;
  const formats = new Map([echo.repeat.path, HEALTH].map((path) => [path, format]));
  const interceptor = receiveRequests(formats, connections, { ...SERVER_LIMITS, ...limits }, new FairLoop());
  const begin = (options: Partial<Parameters<typeof intercept>[1]> = {}): Intercepted => {
    return intercept(interceptor, { path: echo.repeat.path, ...options });
  };
  const ask = (text: string, options: Parameters<typeof begin>[0] = {}): Intercepted => {
    const begun = begin(options);
    begun.call.client.onReceiveMessage(Buffer.from(text));
    return begun;
  };
  return { account, begin, ask };
}

/** Codes of the statuses that a call was ended with. */
function codes({ call }: Intercepted): readonly unknown[] {
  return call.statuses.map(({ code }) => code);
}

describe('a request', () => {
  test('is decoded; of a method without a format it is passed on as it is', () => {
    const { ask } = receiving();
    assert.deepEqual(ask('x').requests, ['x']);
    assert.deepEqual(ask('x', { path: '/test.Echo/Unknown' }).requests, [Buffer.from('x')]);
  });

  test('that is damaged ends the call with the error', () => {
    const damaged = receiving().ask('!');
    assert.deepEqual([damaged.requests, codes(damaged)], [[], [status.INVALID_ARGUMENT]]);
    assert.equal(damaged.call.statuses[0]?.details, 'the request is damaged');
  });

  test('of more than a kibibyte waits for a turn of the event loop, and is dropped if its call ends first', async () => {
    const { ask } = receiving();
    const [small, large, over] = [1024, 1025, 1025].map((length) => ask('x'.repeat(length)));
    assert.ok(small && large && over);
    assert.deepEqual([small.requests.length, large.requests.length], [1, 0]);
    over.call.client.onCancel();
    await until(() => large.requests.length === 1);
    assert.deepEqual([over.requests, codes(over)], [[], []]);
  });

  test('tells the connection when it is complete, and of a stream how much was delivered', () => {
    const { account, ask } = receiving();
    const unary = ask('xx', { peer: 'a' });
    assert.deepEqual(account.splice(0), []);
    unary.call.client.onReceiveHalfClose();
    assert.deepEqual([account.splice(0), unary.ends], [['a ended'], ['request']]);
    unary.call.client.onCancel();
    assert.deepEqual([account.splice(0), unary.ends], [['a ended'], ['request', 'call']]);
    const stream = ask('xx', { peer: 'b', requestStream: true });
    stream.call.client.onReceiveMessage(Buffer.from('xxx'));
    assert.deepEqual(account.splice(0), ['b delivered 2', 'b delivered 3']);
    assert.deepEqual(stream.requests, ['xx', 'xxx']);
  });
});

describe('the time for a request', () => {
  const limits = { requestMs: 3000 };
  const late = { code: status.DEADLINE_EXCEEDED, details: 'no request came within 3 s' };

  test('ends the call, then its connection', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { account, begin, ask } = receiving(limits);
    const silent = begin();
    const unfinished = ask('x');
    t.mock.timers.tick(2999);
    assert.deepEqual([silent.call.statuses, account], [[], []]);
    t.mock.timers.tick(1);
    assert.deepEqual([silent.call.statuses, unfinished.call.statuses], [[late], [late]]);
    assert.deepEqual(account, ['client given up', 'client given up']);
  });

  test('does not count after its end, after the first request of a stream, or after the call', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { account, begin, ask } = receiving(limits);
    const complete = ask('x');
    const stream = ask('x', { requestStream: true });
    const over = begin();
    complete.call.client.onReceiveHalfClose();
    over.call.client.onCancel();
    t.mock.timers.tick(10_000);
    for (const { call } of [complete, stream, over]) assert.deepEqual(call.statuses, []);
    assert.ok(!account.includes('client given up'));
  });
});

describe('calls at a time', () => {
  test('are limited, except health checks, and each makes room when it ends', () => {
    const { begin, ask } = receiving({ calls: 2 });
    const [first] = [begin(), begin()];
    const refused = [begin(), begin()];
    assert.deepEqual(refused.map(codes), [[status.RESOURCE_EXHAUSTED], [status.RESOURCE_EXHAUSTED]]);
    assert.match(refused[0]?.call.statuses[0]?.details ?? '', /too many calls/);
    const check = ask('x', { path: HEALTH });
    assert.deepEqual([check.requests, codes(check)], [['x'], []]);
    for (const one of refused) one.call.client.onCancel();
    check.call.client.onCancel();
    assert.deepEqual(codes(begin()), [status.RESOURCE_EXHAUSTED]);
    first?.call.client.onCancel();
    assert.deepEqual([begin(), begin()].map(codes), [[], [status.RESOURCE_EXHAUSTED]]);
  });
});

describe('the memory of requests that are being answered', () => {
  const TOO_MUCH = [status.RESOURCE_EXHAUSTED];

  test('is limited by their bytes and values, until their calls end', () => {
    const { ask } = receiving({ heldBytes: 20 });
    const first = ask('12345');
    const second = ask('12345');
    assert.deepEqual([first, second].map(codes), [[], []]);
    const full = ask('1');
    assert.deepEqual([full.requests, codes(full)], [[], TOO_MUCH]);
    full.call.client.onCancel();
    first.call.client.onCancel();
    assert.deepEqual(codes(ask('123456')), TOO_MUCH);
    assert.deepEqual(codes(ask('12345')), []);
    assert.deepEqual(codes(ask('1')), TOO_MUCH);
  });

  test('is limited for the bytes of one as well', () => {
    const { ask } = receiving({ heldBytes: 20 });
    const large = ask('x'.repeat(21));
    assert.deepEqual(codes(large), TOO_MUCH);
    assert.match(large.call.statuses[0]?.details ?? '', /no room for more requests/);
  });

  test('is not held for streams, whose requests are handled as they come', () => {
    const { ask } = receiving({ heldBytes: 20 });
    const stream = ask('1234567890', { requestStream: true });
    stream.call.client.onReceiveMessage(Buffer.from('1234567890'));
    assert.deepEqual([stream.requests.length, codes(stream)], [2, []]);
    assert.deepEqual(codes(ask('1234567890')), []);
  });
});
