import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../support/until.js';
import { scripted } from './scripted-evaluation.js';
import { siteServing, stepwise } from './site-server.js';

const MANIFEST = { dlspec: 'evaluation/v1', name: 'tiny', version: '1.0.0', plugin: 'fake', models: ['zoo:resnet18'] };

const MIB = 2 ** 20;

/** A connection of a client that does nothing with it by itself. */
async function connected(t: TestContext, url: string): Promise<net.Socket> {
  const { hostname, port } = new URL(url);
  const socket = net.connect(Number(port), hostname).on('error', () => {});
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

describe('connections over HTTP', { timeout: 60_000 }, () => {
  it('beyond the limit are closed as they come, and there is room when others end', async (t) => {
    const { url } = await siteServing(t, { http: { limits: { connections: 3 } } });
    const held: net.Socket[] = [];
    for (let index = 0; index < 3; index++) held.push(await connected(t, url));
    // The server takes connections in turn.
    const further = await connected(t, url);
    await once(further.resume(), 'close');
    assert.ok(held.every((socket) => !socket.destroyed && socket.readyState === 'open'));
    held[0]?.destroy();
    const status = async () => (await fetch(`${url}/api/v1/agents`)).status;
    await until(() =>
      status()
        .then((code) => code === 200)
        .catch(() => false),
    );
  });

  it('of a client that reads nothing are closed, and others are answered', async (t) => {
    const size = 32 * MIB;
    const showResult = () => Promise.resolve(`<p>${'x'.repeat(size)}</p>`);
    const { url, attach } = await siteServing(t, { http: { showResult, limits: { idleMs: 2000 } } });
    await attach(scripted(stepwise(1, () => Promise.resolve())));
    const body = JSON.stringify({ id: 'large-result', manifest: MANIFEST });
    const headers = { 'content-type': 'application/json' };
    // A busy machine may take longer than the limit; the same submission again changes nothing.
    await until(async () => {
      await fetch(`${url}/api/v1/evaluations`, { method: 'POST', headers, body }).catch(() => undefined);
      const answer = await fetch(`${url}/api/v1/evaluations/large-result`).catch(() => undefined);
      return (await answer?.text())?.includes('"state":"done"') === true;
    });
    const socket = await connected(t, url);
    socket.pause();
    socket.write(`GET /evaluations/large-result HTTP/1.1\r\nHost: ${new URL(url).host}\r\n\r\n`);
    await once(socket, 'readable');
    await sleep(6000);
    assert.equal((await fetch(`${url}/api/v1/agents`)).status, 200);
    let bytes = 0;
    socket.on('data', (chunk: Buffer) => (bytes += chunk.length)).resume();
    await once(socket, 'close');
    assert.ok(bytes > 0 && bytes < size / 2, `the client got ${bytes} bytes, which were on their way`);
  });
});
