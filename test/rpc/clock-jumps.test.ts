import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { until } from '../support/until.js';
import { echo, echoServer } from './support/echo.js';
import { clientOf, handMadeClient, messagePrefix } from './support/hostile.js';
import { refusal } from './support/refusal.js';

const HOUR_MS = 3_600_000;

/** A wall clock that stands still until the returned function sets it to another time. All timers continue. */
function wallClock(t: TestContext): (jumpMs: number) => void {
  const startMs = Date.now();
  t.mock.timers.enable({ apis: ['Date'], now: startMs });
  return (jumpMs) => t.mock.timers.setTime(startMs + jumpMs);
}

/** A server that accepts connections and sends nothing. */
async function silentServer(t: TestContext): Promise<string> {
  const silent = createServer((socket) => {
    socket.on('error', () => {});
    t.after(() => socket.destroy());
  }).listen(0, '127.0.0.1');
  t.after(() => silent.close());
  await once(silent, 'listening');
  const address = silent.address();
  return typeof address === 'object' && address !== null ? `127.0.0.1:${address.port}` : '';
}

describe('a clock that is set', { timeout: 60_000 }, () => {
  it('forward by an hour while a client connects leaves the call its deadline', async (t) => {
    const { address } = await echoServer(t);
    const jump = wallClock(t);
    // So large that it cannot arrive at the same moment in which its call begins.
    const request = Buffer.alloc(16 * 2 ** 20);
    const answer = clientOf(t, address).unary(echo.repeat, request, { deadlineMs: 20_000 });
    jump(HOUR_MS);
    assert.equal((await answer).length, request.length);
  });

  for (const [direction, jumpMs] of [
    ['forward', HOUR_MS],
    ['back', -HOUR_MS],
  ] as const) {
    it(`${direction} by an hour changes no deadline, for a server that does not answer or that hangs`, async (t) => {
      const { address, answered } = await echoServer(t);
      const silent = await silentServer(t);
      const jump = wallClock(t);
      const options = { deadlineMs: 5000 };
      const inTime = refusal('timeout', /does not answer in time/);
      const connecting = assert.rejects(clientOf(t, silent).unary(echo.hang, Buffer.from('x'), options), inTime);
      const hanging = assert.rejects(clientOf(t, address).unary(echo.hang, Buffer.from('x'), options), inTime);
      await until(() => answered.has('hang'));
      jump(jumpMs);
      await Promise.all([connecting, hanging]);
    });
  }

  it('back by an hour does not keep an idle connection', async (t) => {
    const { address } = await echoServer(t, { limits: { idleMs: 2_000 } });
    const jump = wallClock(t);
    const { session, call } = handMadeClient(t, address);
    const stream = call('/test.Echo/Repeat');
    stream.end(messagePrefix(0));
    assert.equal((await stream.ended).grpcStatus, 0);
    jump(-HOUR_MS);
    await once(session, 'close');
  });
});
