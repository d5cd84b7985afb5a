import assert from 'node:assert/strict';
import https from 'node:https';
import { describe, it } from 'node:test';
import { authorityForSuite } from '../../rpc/support/certificates.js';
import { siteServing } from '../site-server.js';

interface Answer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

describe('HTTP over TLS', { timeout: 60_000 }, () => {
  const authority = authorityForSuite();

  function ask(url: string, options: https.RequestOptions = {}, body = ''): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const request = https.request(url, { agent: false, ...options }, (answer) => {
        resolve({ status: answer.resume().statusCode, headers: answer.headers });
      });
      request.on('error', reject).end(body);
    });
  }

  it('shows the certificate, and has strict headers and cookies', async (t) => {
    const { caPem: ca, identity } = authority();
    const token = 'one-token-0123456789';
    const { url } = await siteServing(t, { token, identity });
    assert.match(url, /^https:/);
    const page = await ask(`${url}/`, { ca });
    assert.deepEqual([page.status, page.headers['strict-transport-security']], [200, 'max-age=31536000']);
    const form = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } };
    const loggedIn = await ask(`${url}/login`, { ca, ...form }, `token=${token}`);
    assert.match(
      loggedIn.headers['set-cookie']?.[0] ?? '',
      /^__Host-session=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
    for (const [origin, status] of [
      [url, 401],
      [url.replace('https', 'http'), 403],
    ] as const) {
      const headers = { 'content-type': 'application/json', origin };
      assert.equal((await ask(`${url}/api/v1/evaluations`, { ca, method: 'POST', headers }, '{}')).status, status);
    }
  });

  it('answers no client that does not know the authority, uses TLS 1.1, or uses no TLS', async (t) => {
    const { caPem: ca, identity } = authority();
    const { url } = await siteServing(t, { token: 'one-token-0123456789', identity });
    await assert.rejects(ask(url), /certificate/);
    await assert.rejects(ask(url, { ca, minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1' }));
    await assert.rejects(fetch(url.replace('https', 'http')));
  });

  it('answers only clients with a certificate, if the server asks for one', async (t) => {
    const { caPem: ca, identity } = authority();
    const { url } = await siteServing(t, { token: 'one-token-0123456789', identity, clientCaPem: ca });
    const { certificatePem: cert, keyPem: key } = identity;
    assert.equal((await ask(`${url}/`, { ca, cert, key })).status, 200);
    await assert.rejects(ask(`${url}/`, { ca }), /certificate required|socket hang up|ECONNRESET/);
    const { url: open } = await siteServing(t, { token: 'one-token-0123456789', identity });
    assert.equal((await ask(`${open}/`, { ca })).status, 200);
  });
});
