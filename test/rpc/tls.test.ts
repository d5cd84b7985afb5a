import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { PlatformError } from '../../src/base/errors.js';
import { createRpcClient } from '../../src/rpc/client.js';
import type { ClientSecurity } from '../../src/rpc/security.js';
import { createRpcServer } from '../../src/rpc/server.js';
import { authorityForSuite } from './support/certificates.js';
import { echo, echoServer } from './support/echo.js';
import { assertRefused } from './support/refusal.js';

const TOKEN = 'a-token-that-nobody-guesses';

async function repeat(t: TestContext, address: string, security: ClientSecurity): Promise<string> {
  const client = createRpcClient(address, 'agent', { security });
  t.after(() => client.close());
  return (await client.unary(echo.repeat, Buffer.from('hello'), { deadlineMs: 10_000 })).toString();
}

describe('TLS', { timeout: 30_000 }, () => {
  const ours = authorityForSuite();
  const theirs = authorityForSuite();

  test('a client that trusts the authority is served', async (t) => {
    const { address } = await echoServer(t, { security: { identity: ours().identity } });
    assert.equal(await repeat(t, address, { caPem: ours().caPem }), 'hello');
  });

  test('a server of another authority is not trusted, and the message names the option', async (t) => {
    const { address } = await echoServer(t, { security: { identity: theirs().identity } });
    await assertRefused(repeat(t, address, { caPem: ours().caPem }), 'unavailable', /certificate.*--tls-ca/);
  });

  test('a certificate for another host is not trusted', async (t) => {
    const { address } = await echoServer(t, { security: { identity: ours().identity } });
    const elsewhere = address.replace('127.0.0.1', '127.0.0.2');
    await assertRefused(repeat(t, elsewhere, { caPem: ours().caPem }), 'unavailable');
  });

  test('a plain-text client of a TLS server is not served', async (t) => {
    const { address } = await echoServer(t, { security: { identity: ours().identity } });
    await assertRefused(repeat(t, address, {}), 'unavailable', /TLS/);
  });

  test('a client that is told to use TLS, or has a certificate, sends nothing in plain text', async (t) => {
    const { caPem, identity } = ours();
    // A TLS handshake (RFC 8446, 5.1), and the preface of HTTP/2.
    const handshake = 22;
    const preface = 'P'.charCodeAt(0);
    for (const [options, expected] of [
      [{ tls: true }, handshake],
      [{ security: { identity } }, handshake],
      [{ security: { caPem } }, handshake],
      [{}, preface],
    ] as const) {
      const firstBytes: (number | undefined)[] = [];
      const listener = net.createServer((socket) => {
        socket
          .on('error', () => undefined)
          .once('data', ([first]: Buffer) => {
            firstBytes.push(first);
            socket.destroy();
          });
      });
      t.after(() => listener.close());
      await once(listener.listen(0, '127.0.0.1'), 'listening');
      const address = `127.0.0.1:${(listener.address() as net.AddressInfo).port}`;
      const client = createRpcClient(address, 'agent', options);
      t.after(() => client.close());
      const asked = client.unary(echo.repeat, Buffer.from('hello'), { deadlineMs: 10_000 });
      await assertRefused(asked, 'unavailable');
      assert.deepEqual([...new Set(firstBytes)], [expected]);
    }
  });

  describe('with certificates of clients', () => {
    test('a client of the same authority is served', async (t) => {
      const { caPem, identity } = ours();
      const { address } = await echoServer(t, { security: { identity, clientCaPem: caPem } });
      assert.equal(await repeat(t, address, { caPem, identity }), 'hello');
    });

    test('a client without a certificate is not', async (t) => {
      const { caPem, identity } = ours();
      const { address, answered } = await echoServer(t, { security: { identity, clientCaPem: caPem } });
      await assertRefused(repeat(t, address, { caPem }), 'unavailable', /--tls-cert/);
      assert.equal(answered.get('repeat'), undefined);
    });

    test('a client of another authority is not', async (t) => {
      const { caPem, identity } = ours();
      const { address, answered } = await echoServer(t, { security: { identity, clientCaPem: caPem } });
      await assertRefused(repeat(t, address, { caPem, identity: theirs().identity }), 'unavailable');
      assert.equal(answered.get('repeat'), undefined);
    });
  });
});

describe('an address that others can reach', { timeout: 30_000 }, () => {
  const authority = authorityForSuite();
  const everywhere = { host: '0.0.0.0', port: 0 };

  test('needs TLS and a token, and the message says how to give them', async () => {
    const listening = createRpcServer().listen(everywhere);
    await assertRefused(listening, 'usage', /0\.0\.0\.0.*--tls-cert.*--tls-key.*--token-file.*127\.0\.0\.1/);
  });

  test('needs both of them', async () => {
    const { identity } = authority();
    await assertRefused(createRpcServer({ security: { identity } }).listen(everywhere), 'usage', /token/);
    await assertRefused(createRpcServer({ security: { token: TOKEN } }).listen(everywhere), 'usage', /TLS/);
    await assertRefused(createRpcServer().listen({ host: '::', port: 0 }), 'usage');
  });

  test('can be listened on with both', async () => {
    const server = createRpcServer({ security: { identity: authority().identity, token: TOKEN } });
    assert.match(await server.listen(everywhere), /^0\.0\.0\.0:\d+$/);
    await server.close(new PlatformError('unavailable', 'done'));
  });

  test('localhost counts as the address that it resolves to', async () => {
    const server = createRpcServer();
    assert.match(await server.listen({ host: 'localhost', port: 0 }), /^localhost:\d+$/);
    await server.close(new PlatformError('unavailable', 'done'));
  });

  test('is never connected to in plain text', async (t) => {
    // TEST-NET-1 (RFC 5737): an address without a machine; a plain connection would not even be tried.
    const client = createRpcClient('192.0.2.1:1', 'agent', { tls: false, security: { token: TOKEN } });
    t.after(() => client.close());
    await assert.rejects(client.unary(echo.repeat, Buffer.from('x'), { deadlineMs: 500 }), PlatformError);
  });
});
