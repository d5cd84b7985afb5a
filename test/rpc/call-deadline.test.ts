import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { status } from '@grpc/grpc-js';
import { echo } from './support/echo.js';
import { clientOf } from './support/hostile.js';

const DAY_MS = 24 * 3_600_000;

/** A server that finds nothing, and keeps how long each call may take. */
async function listeningServer(t: TestContext) {
  const timeouts: unknown[] = [];
  const server = http2.createServer();
  server.on('stream', (stream, headers) => {
    timeouts.push(headers['grpc-timeout']);
    const ended = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': String(status.NOT_FOUND) };
    stream.respond(ended, { endStream: true });
  });
  server.listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const client = clientOf(t, `127.0.0.1:${(server.address() as AddressInfo).port}`);
  const call = (deadlineMs: number) => assert.rejects(client.unary(echo.repeat, Buffer.of(), { deadlineMs }));
  return { call, timeouts };
}

describe('the deadline of a call', { timeout: 30_000 }, () => {
  // gRPC over HTTP/2, "TimeoutValue": a positive integer of at most eight digits, and its unit.
  for (const [ms, header] of [
    [300, '300m'],
    [299.2, '300m'],
    [99_999_999, '99999999m'],
    [100_000_000, '100000S'],
    [100_000_001, '100001S'],
    [DAY_MS * 24, '2073600S'],
    [DAY_MS * 30, '2073600S'],
  ] as const) {
    test(`of ${ms} ms is sent as ${header}`, async (t) => {
      const { call, timeouts } = await listeningServer(t);
      await call(ms);
      assert.deepEqual(timeouts, [header]);
    });
  }

  test('leaves no timer behind, which would keep the process', async (t) => {
    const { call } = await listeningServer(t);
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    await call(DAY_MS);
    const before = timers();
    for (let i = 0; i < 10; i++) await call(DAY_MS);
    assert.ok(timers() < before + 10);
  });
});
