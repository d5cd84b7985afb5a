import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { PlatformError } from '../../src/base/errors.js';
import { announceAgent, type AnnounceOptions } from '../../src/directory/announce-agent.js';
import { assertRefused } from '../rpc/support/refusal.js';
import { freePort } from '../support/free-port.js';
import { until } from '../support/until.js';
import { offer } from './support/offer.js';
import { registryServer } from './support/registry-server.js';

const TOKEN = 'a-token-that-nobody-guesses';

/** An agent that announces itself until the test stops it or ends. */
function announce(t: TestContext, server: string, options: Partial<AnnounceOptions> = {}) {
  const controller = new AbortController();
  const ended = announceAgent(offer(), server, { ...options, signal: controller.signal });
  ended.catch(() => {});
  t.after(() => controller.abort());
  const stop = async (): Promise<void> => {
    controller.abort();
    await ended;
  };
  return { ended, stop };
}

describe('an agent that announces itself', { timeout: 120_000 }, () => {
  test('stays registered past its lease, under one registration', async (t) => {
    const { directory, address } = await registryServer(t, { leaseMs: 3000 });
    const renew = t.mock.method(directory, 'renew');
    let registered = 0;
    announce(t, address, { onRegistered: () => registered++ });
    // It renews three times in each lease.
    await until(() => renew.mock.callCount() === 4);
    assert.deepEqual([directory.list().length, registered], [1, 1]);
  });

  test('is no longer registered after it stops', async (t) => {
    const { directory, address } = await registryServer(t);
    const { stop } = announce(t, address);
    await until(() => directory.list().length === 1);
    await stop();
    assert.equal(directory.list().length, 0);
  });

  test('registers again with a restarted server, and reports once that the server was away', async (t) => {
    const port = await freePort();
    const before = await registryServer(t, { port, leaseMs: 3000 });
    const problems: string[] = [];
    const registered: boolean[] = [];
    announce(t, before.address, {
      onRegistered: (isAgain) => registered.push(isAgain),
      onLost: (problem) => problems.push(problem),
    });
    await until(() => registered.length === 1);
    await before.close();
    await until(() => problems.length > 0);
    const { directory } = await registryServer(t, { port, leaseMs: 3000 });
    await until(() => registered.length === 2);
    assert.deepEqual(registered, [false, true]);
    assert.equal(directory.list().length, 1);
    assert.deepEqual(problems.length, 1);
    assert.match(problems[0] ?? '', /the server at .* does not answer/);
  });

  test('reports that it is registered again after a renewal that failed, also where the server kept the lease', async (t) => {
    const { directory, address } = await registryServer(t, { leaseMs: 6000 });
    const fails = (): never => {
      throw new PlatformError('internal', 'no renewal');
    };
    t.mock.method(directory, 'renew', fails, { times: 1 });
    const said: string[] = [];
    announce(t, address, {
      onRegistered: (isAgain) => said.push(isAgain ? 'again' : 'registered'),
      onLost: () => said.push('lost'),
    });
    await until(() => said.length === 3);
    assert.deepEqual([said, directory.list()[0]?.number], [['registered', 'lost', 'again'], 1]);
  });

  test('waits for a server that is started later', async (t) => {
    const port = await freePort();
    const problems: string[] = [];
    announce(t, `127.0.0.1:${port}`, { onLost: (problem) => problems.push(problem) });
    await until(() => problems.length > 0);
    const { directory } = await registryServer(t, { port });
    await until(() => directory.list().length === 1);
  });

  test('sends its token', async (t) => {
    const { directory, address } = await registryServer(t, { security: { token: TOKEN } });
    announce(t, address, { client: { security: { token: TOKEN } } });
    await until(() => directory.list().length === 1);
  });

  test('ends when its token is refused', async (t) => {
    const { address } = await registryServer(t, { security: { token: TOKEN } });
    await assertRefused(announce(t, address).ended, 'unauthenticated', /MLMODELSCOPE_TOKEN/);
  });
});
