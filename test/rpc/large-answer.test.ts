import type { handleUnaryCall } from '@grpc/grpc-js';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { PlatformError } from '../../src/base/errors.js';
import { LargeAnswer, withLargeAnswers } from '../../src/rpc/large-answer.js';
import type { ServerLimits } from '../../src/rpc/limits.js';
import { createRpcServer } from '../../src/rpc/server.js';
import { until } from '../support/until.js';
import { echo } from './support/echo.js';
import { clientOf, handMadeClient, messagePrefix } from './support/hostile.js';
import { assertRefused } from './support/refusal.js';

const MIB = 2 ** 20;
const deadlineMs = 60_000;
const MAX_TIMER_MS = 2 ** 31 - 1;
const BODY = Buffer.alloc(12 * MIB, 'a large body, ');
const HEAD = Buffer.from('head: ');

/** A server that answers with the same 12 MiB each time. */
async function largeServer(t: TestContext, limits: Partial<ServerLimits> = {}) {
  const server = createRpcServer({ limits });
  const seen = { opened: 0, closed: 0 };
  const isOpen = new Map<string, number>();
  const large: handleUnaryCall<Buffer, Buffer | LargeAnswer> = (call, callback) => {
    void server.calls.answer(call, callback, () => {
      const peer = call.getPeer();
      return new LargeAnswer(() => {
        if (call.request.toString() === 'fail') throw new PlatformError('storage', 'the disk is gone');
        seen.opened++;
        isOpen.set(peer, (isOpen.get(peer) ?? 0) + 1);
        assert.equal(isOpen.get(peer), 1);
        const close = (): void => {
          seen.closed++;
          isOpen.set(peer, 0);
        };
        return Promise.resolve({ head: HEAD, body: BODY, close });
      });
    });
  };
  const small: handleUnaryCall<Buffer, Buffer> = (call, callback) => {
    void server.calls.answer(call, callback, () => call.request);
  };
  server.addService({ large: withLargeAnswers(echo.large), small: echo.small }, { large, small });
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => server.close(new PlatformError('unavailable', 'done')));
  return { address, seen };
}

describe('large answers', { timeout: 300_000 }, () => {
  test('are complete, are sent one at a time on a connection, and are closed', async (t) => {
    const { address, seen } = await largeServer(t);
    const clients = [clientOf(t, address), clientOf(t, address)];
    const asked = clients.flatMap((client) => {
      return Array.from({ length: 10 }, () => client.unary(echo.large, Buffer.of(), { deadlineMs }));
    });
    const expected = Buffer.concat([HEAD, BODY]);
    for (const answer of await Promise.all(asked)) assert.ok(expected.equals(answer));
    assert.deepEqual(seen, { opened: 20, closed: 20 });
  });

  test('do not delay small ones, on other connections or on the same one', async (t) => {
    const { address } = await largeServer(t);
    const busy = clientOf(t, address);
    const other = clientOf(t, address);
    let answered = 0;
    const asked = Array.from({ length: 40 }, async () => {
      await busy.unary(echo.large, Buffer.of(), { deadlineMs });
      answered++;
    });
    await asked[0];
    for (const client of [busy, other]) {
      for (let i = 0; i < 5; i++) await client.unary(echo.small, Buffer.from('x'), { deadlineMs });
    }
    const meanwhile = answered;
    await Promise.all(asked);
    assert.ok(meanwhile < 30, `${meanwhile} of 40 large answers came before 10 small ones`);
  });

  test('are given up where the client does not read; others get theirs', async (t) => {
    const answerMs = 500;
    const { address, seen } = await largeServer(t, { answerMs, requestMs: MAX_TIMER_MS });
    // Time stands still until the others have theirs, which takes longer on a loaded machine.
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { call } = handMadeClient(t, address, { reads: false });
    const streams = Array.from({ length: 3 }, () => call(echo.large.path));
    for (const stream of streams) stream.end(messagePrefix(0));
    const answer = await clientOf(t, address).unary(echo.large, Buffer.of(), { deadlineMs });
    assert.equal(answer.length, HEAD.length + BODY.length);
    assert.equal(seen.closed, 1);
    while (seen.closed < 4) {
      t.mock.timers.tick(answerMs);
      for (let turn = 0; turn < 20; turn++) await nextTurn();
    }
    t.mock.timers.reset();
    await Promise.all(streams.map(({ ended }) => ended));
    assert.equal(seen.opened, 4);
  });

  test('are closed when the client is gone, before or after they are opened', async (t) => {
    const { address, seen } = await largeServer(t);
    const { session, call } = handMadeClient(t, address, { reads: false });
    const streams = Array.from({ length: 3 }, () => call(echo.large.path));
    for (const stream of streams) stream.end(messagePrefix(0));
    await Promise.race(streams.map((stream) => once(stream, 'response')));
    session.destroy();
    await until(() => seen.opened > 0 && seen.closed === seen.opened);
    await clientOf(t, address).unary(echo.large, Buffer.of(), { deadlineMs });
  });

  test('that cannot be opened have the status of the error', async (t) => {
    const { address, seen } = await largeServer(t);
    const client = clientOf(t, address);
    const asked = client.unary(echo.large, Buffer.from('fail'), { deadlineMs });
    await assertRefused(asked, 'storage', /the disk is gone/);
    await client.unary(echo.large, Buffer.of(), { deadlineMs });
    assert.deepEqual(seen, { opened: 1, closed: 1 });
  });
});
