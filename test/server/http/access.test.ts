import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { Hono } from 'hono';
import { hashToken } from '../../../src/rpc/accepted-tokens.js';
import { PlatformError } from '../../../src/base/errors.js';
import type { ServerSecurity } from '../../../src/rpc/security.js';
import { Access } from '../../../src/server/http/access.js';

const TOKEN = 'one-token-0123456789';
const READER = 'reader-token-0123456789';
const READ = '/mlmodelscope.evaluation.v1.EvaluationService/GetEvaluation';
const SUBMIT = '/mlmodelscope.evaluation.v1.EvaluationService/SubmitEvaluation';

const HOUR_MS = 3_600_000;

const roles: ServerSecurity = {
  acceptedTokens: {
    find: (shown) => (shown === READER ? { name: 'the reader', role: 'read', sha256: hashToken(shown) } : undefined),
  },
};

// Only whether there is an identity counts here.
const tls: ServerSecurity = { token: TOKEN, identity: {} as NonNullable<ServerSecurity['identity']> };

/** A site that answers what the visitor may do. The codes of refusals are their texts. */
function siteWith(security: ServerSecurity, isLoopback = true) {
  const access = new Access(security, isLoopback);
  const app = new Hono();
  app.onError((error, c) => c.text(error instanceof PlatformError ? error.code : String(error), 400));
  app.all('/own', (c) => {
    access.requireOwnSite(c);
    return c.text('own');
  });
  app.get('/may', (c) => {
    const method = c.req.query('method') ?? '';
    const isAllowed = access.isAllowed(c, method);
    const code = ((): string => {
      try {
        access.require(c, method);
        return 'ok';
      } catch (error) {
        return error instanceof PlatformError ? error.code : String(error);
      }
    })();
    assert.equal(isAllowed, code === 'ok');
    return c.json([code, access.isTrusted(c), access.holderOf(c) ?? null]);
  });
  app.post('/login', async (c) => c.text(String(access.logIn(c, await c.req.text()))));
  app.post('/logout', (c) => {
    access.logOut(c);
    return c.text('out');
  });
  const textOf = async (answer: Response | Promise<Response>): Promise<string> => (await answer).text();
  const own = (method: string, headers: Readonly<Record<string, string>>) =>
    textOf(app.request('http://127.0.0.1/own', { method, headers }));
  const may = async (method: string, headers: Readonly<Record<string, string>> = {}): Promise<unknown> =>
    (await app.request(`/may?method=${encodeURIComponent(method)}`, { headers })).json();
  const logIn = async (token: string) => {
    const answer = await app.request('/login', { method: 'POST', body: token });
    const header = answer.headers.get('set-cookie');
    return { isAccepted: await answer.text(), header, cookie: header?.split(';')[0] ?? '' };
  };
  const logOut = async (cookie?: string) => {
    const headers: Record<string, string> = cookie === undefined ? {} : { cookie };
    return (await app.request('/logout', { method: 'POST', headers })).headers.get('set-cookie');
  };
  return { access, own, may, logIn, logOut };
}

/** Sets the monotonic clock, which the test moves. */
function movedClock(t: TestContext): { ms: number } {
  const clock = { ms: 1000 };
  t.mock.method(performance, 'now', () => clock.ms);
  return clock;
}

describe('a request to another name, or from a page of another site', () => {
  it('is refused on this machine unless it names this machine, with or without a port', async () => {
    const { own } = siteWith({});
    for (const host of ['127.0.0.1', '127.0.0.1:8080', 'localhost', 'localhost:1', '[::1]', '[::1]:7'])
      assert.equal(await own('GET', { host }), 'own', host);
    for (const host of ['example.com', 'example.com:80', '127.0.0.1.example.com', '', 'localhost:99999', '[::2]:1'])
      assert.equal(await own('GET', { host }), 'forbidden', host);
    assert.equal(await own('GET', {}), 'forbidden');
  });

  it('is taken by a name that leads to a server that other machines reach', async () => {
    const { own } = siteWith({ token: TOKEN }, false);
    assert.equal(await own('GET', { host: 'bench.example.com' }), 'own');
  });

  it('has no effect, whatever the browser says about where it came from', async () => {
    const { own } = siteWith({});
    const host = '127.0.0.1:8080';
    for (const headers of [
      {},
      { origin: 'http://127.0.0.1:8080' },
      { 'sec-fetch-site': 'same-origin' },
      { origin: 'http://127.0.0.1:8080', 'sec-fetch-site': 'same-origin' },
    ])
      assert.equal(await own('POST', { host, ...headers }), 'own', JSON.stringify(headers));
    for (const headers of [
      { origin: 'https://127.0.0.1:8080' },
      { origin: 'http://127.0.0.1:8081' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { origin: 'http://127.0.0.1:8080', 'sec-fetch-site': 'cross-site' },
      { origin: 'http://example.com', 'sec-fetch-site': 'same-origin' },
    ]) {
      for (const method of ['POST', 'PUT', 'DELETE'])
        assert.equal(await own(method, { host, ...headers }), 'forbidden', JSON.stringify(headers));
      for (const method of ['GET', 'HEAD'])
        assert.notEqual(await own(method, { host, ...headers }), 'forbidden', 'a link of another site leads here');
    }
  });

  it('comes over TLS from this site if the server has TLS', async () => {
    const { own } = siteWith(tls);
    const host = 'localhost:1';
    assert.equal(await own('POST', { host, origin: 'https://localhost:1' }), 'own');
    assert.equal(await own('POST', { host, origin: 'http://localhost:1' }), 'forbidden');
  });
});

describe('a visitor', () => {
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  it('may do everything where the server has no token', async () => {
    const { access, may, logIn } = siteWith({});
    assert.equal(access.hasTokens, false);
    assert.deepEqual(await may(SUBMIT), ['ok', true, null]);
    assert.deepEqual(await logIn(TOKEN), { isAccepted: 'false', header: null, cookie: '' });
  });

  it('may read without the one token of a server, and see results and change something with it', async () => {
    const { access, may } = siteWith({ token: TOKEN });
    assert.equal(access.hasTokens, true);
    for (const headers of [{}, bearer('wrong')]) {
      assert.deepEqual(await may(READ, headers), ['ok', false, null]);
      assert.deepEqual(await may(SUBMIT, headers), ['unauthenticated', false, null]);
    }
    assert.deepEqual(await may(SUBMIT, bearer(TOKEN)), ['ok', true, 'token']);
  });

  it('may do what the role of the token allows', async () => {
    const { may } = siteWith(roles);
    assert.deepEqual(await may(READ), ['unauthenticated', false, null]);
    assert.deepEqual(await may(READ, bearer(READER)), ['ok', true, 'the reader']);
    assert.deepEqual(await may(SUBMIT, bearer(READER)), ['forbidden', true, 'the reader']);
  });
});

describe('a session', () => {
  it('is given for an accepted token, in a cookie that scripts and other sites do not see', async () => {
    const { logIn, may } = siteWith({ token: TOKEN });
    const { isAccepted, header, cookie } = await logIn(TOKEN);
    assert.equal(isAccepted, 'true');
    assert.match(header ?? '', /^session=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/);
    assert.deepEqual(await may(SUBMIT, { cookie }), ['ok', true, 'token']);
    assert.notEqual((await logIn(TOKEN)).cookie, cookie);
    assert.deepEqual(await logIn('wrong'), { isAccepted: 'false', header: null, cookie: '' });
    assert.deepEqual(await may(SUBMIT, { cookie: 'session=guessed' }), ['unauthenticated', false, null]);
  });

  it('is for TLS, and for this host alone, if the server has TLS', async () => {
    const { logIn, logOut, may } = siteWith(tls);
    const { header, cookie } = await logIn(TOKEN);
    assert.match(header ?? '', /^__Host-session=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Strict$/);
    assert.deepEqual(await may(SUBMIT, { cookie }), ['ok', true, 'token']);
    assert.equal(await logOut(cookie), '__Host-session=; Max-Age=0; Path=/; Secure');
  });

  it('gives way to a token that the request shows', async () => {
    const { logIn, may } = siteWith({ token: TOKEN });
    const { cookie } = await logIn(TOKEN);
    assert.deepEqual(await may(SUBMIT, { cookie, authorization: 'Bearer wrong' }), ['unauthenticated', false, null]);
  });

  it('ends with the logout, for this browser only', async () => {
    const { logIn, logOut, may } = siteWith({ token: TOKEN });
    const one = await logIn(TOKEN);
    const other = await logIn(TOKEN);
    assert.equal(await logOut(one.cookie), 'session=; Max-Age=0; Path=/');
    assert.deepEqual(await may(SUBMIT, { cookie: one.cookie }), ['unauthenticated', false, null]);
    assert.deepEqual(await may(SUBMIT, { cookie: other.cookie }), ['ok', true, 'token']);
    assert.match((await logOut()) ?? '', /^session=; Max-Age=0/);
  });

  it('ends after twelve hours', async (t) => {
    const clock = movedClock(t);
    const { logIn, may } = siteWith({ token: TOKEN });
    const { cookie } = await logIn(TOKEN);
    clock.ms += 12 * HOUR_MS - 1;
    assert.deepEqual(await may(SUBMIT, { cookie }), ['ok', true, 'token']);
    clock.ms += 1;
    assert.deepEqual(await may(SUBMIT, { cookie }), ['unauthenticated', false, null]);
    // What has ended stays so: it was removed, and is not judged by the clock again.
    clock.ms -= HOUR_MS;
    assert.deepEqual(await may(SUBMIT, { cookie }), ['unauthenticated', false, null]);
  });

  it('ends when a thousand later ones have begun', async () => {
    const { logIn, may } = siteWith({ token: TOKEN });
    const first = await logIn(TOKEN);
    const second = await logIn(TOKEN);
    for (let count = 2; count < 1000; count++) await logIn(TOKEN);
    assert.deepEqual(await may(SUBMIT, { cookie: first.cookie }), ['ok', true, 'token']);
    await logIn(TOKEN);
    assert.deepEqual(await may(SUBMIT, { cookie: first.cookie }), ['unauthenticated', false, null]);
    assert.deepEqual(await may(SUBMIT, { cookie: second.cookie }), ['ok', true, 'token']);
  });
});
