import { Client, credentials } from '@grpc/grpc-js';
import { service as healthService } from 'grpc-health-check';
import assert from 'node:assert/strict';
import { on } from 'node:events';
import { describe, test } from 'node:test';
import { PlatformError } from '../../src/base/errors.js';
import { echoServer } from './support/echo.js';

/** The first `count` statuses of a watched service; `told` is called after each but the last. */
async function watch(address: string, service: string, count: number, told: () => void): Promise<readonly unknown[]> {
  const client = new Client(address, credentials.createInsecure());
  const { Watch: method } = healthService;
  assert.ok(method);
  const { path, requestSerialize, responseDeserialize } = method;
  const call = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, { service });
  call.on('error', () => {});
  const statuses: unknown[] = [];
  for await (const [answer] of on(call, 'data')) {
    statuses.push((answer as { readonly status: unknown }).status);
    if (statuses.length === count) break;
    told();
  }
  call.cancel();
  client.close();
  return statuses;
}

describe('a client that watches the health', { timeout: 60_000 }, () => {
  for (const [name, service] of [
    ['the server', ''],
    ['a service', 'test.Echo'],
  ] as const) {
    test(`of ${name} gets a status when the server serves, and when it stops`, async (t) => {
      const { server, address } = await echoServer(t);
      const stop = (): void => void server.close(new PlatformError('unavailable', 'done'));
      assert.deepEqual(await watch(address, service, 2, stop), ['SERVING', 'NOT_SERVING']);
    });
  }

  // https://github.com/grpc/grpc/blob/master/doc/health-checking.md: for an unknown service, SERVICE_UNKNOWN.
  test('of a missing service gets the status for an unknown service', async (t) => {
    const { address } = await echoServer(t);
    assert.deepEqual(await watch(address, 'no.such.Service', 1, () => {}), ['SERVICE_UNKNOWN']);
  });
});
