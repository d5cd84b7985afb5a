import assert from 'node:assert/strict';
import http from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { z } from 'zod';
import { EXIT_CODES, type ErrorCode, PlatformError } from '../../../src/base/errors.js';
import { SITE_POLICY } from '../../../src/web/site/layout.js';
import { startWebServer } from '../../../src/server/http/web-server.js';
import type { ServerSecurity } from '../../../src/rpc/security.js';
import type { Platform } from '../../../src/server/platform.js';
import { openMemoryStore } from '../../../src/store/memory/open.js';
import type { ResultStore } from '../../../src/store/result-store.js';
import { assertRefused, refusal } from '../../rpc/support/refusal.js';
import { signatureOf } from '../../store/sample-measurement.js';
import { until } from '../../support/until.js';
import { AGENT, directoryWith, openPlatform } from '../fake-platform.js';
import { obedient } from '../scripted-evaluation.js';

const MIB = 2 ** 20;
const JSON_TYPE = { 'content-type': 'application/json' };

/** The same object with some other methods. */
function changed<T extends object>(target: T, methods: Partial<T>): T {
  return new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(name in methods ? methods : target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

interface Changes {
  readonly platform?: Partial<Platform>;
  readonly store?: Partial<ResultStore>;
  readonly security?: ServerSecurity;
}

/** A web server of a platform and a store, some methods of which are others. */
async function webWith(t: TestContext, { platform: methods = {}, store: stored = {}, security = {} }: Changes = {}) {
  const store = changed(await openMemoryStore(), stored);
  const agents = directoryWith(AGENT.address);
  const { platform, attach } = await openPlatform({ store, agents });
  const server = await startWebServer({
    listen: { host: '127.0.0.1', port: 0 },
    security,
    platform: changed(platform, methods),
    store,
    agents,
    agentSecurity: {},
    showResult: () => Promise.resolve(undefined),
  });
  t.after(async () => {
    await server.close();
    platform.close();
  });
  return { url: `http://${server.address}`, server, platform, attach };
}

function jsonOf(answer: Response): Promise<unknown> {
  return answer.json();
}

/** Sends a request as it is, and gives the status of the answer. */
function statusOf(url: string, options: http.RequestOptions, body = ''): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const request = http.request(url, options, (answer) => resolve(answer.resume().statusCode));
    request.on('error', reject).end(body);
  });
}

const BRICK = `/bricks/${signatureOf(1)}`;

/** What each kind of error is over HTTP. */
const STATUSES = {
  usage: 400,
  manifest: 400,
  model: 400,
  unsupported: 409,
  not_found: 404,
  unavailable: 503,
  exhausted: 429,
  unauthenticated: 401,
  forbidden: 403,
  timeout: 504,
  cancelled: 409,
  storage: 500,
  internal: 500,
} as const satisfies Record<ErrorCode, number>;

describe('an answer over HTTP', { timeout: 60_000 }, () => {
  it('has the status of its error, as JSON in the API and as a page elsewhere', async (t) => {
    assert.deepEqual(Object.keys(STATUSES).toSorted(), Object.keys(EXIT_CODES).toSorted());
    let thrown: Error = new Error();
    const { url } = await webWith(t, { store: { measurementsOf: () => Promise.reject(thrown) } });
    for (const [code, status] of Object.entries(STATUSES) as [ErrorCode, number][]) {
      thrown = new PlatformError(code, `the reason <${code}>`);
      const answer = await fetch(`${url}/api/v1${BRICK}`);
      assert.equal(answer.status, status, code);
      assert.deepEqual(await jsonOf(answer), { code, message: `the reason <${code}>` });
      const page = await fetch(`${url}${BRICK}`);
      assert.deepEqual([page.status, page.headers.get('content-type')], [status, 'text/html; charset=UTF-8']);
      const text = await page.text();
      assert.match(text, new RegExp(`the reason &#60;${code}&#62;`));
      assert.match(text, code === 'unauthenticated' ? /<h1>Log in<\/h1>/ : new RegExp(`<h1>Error ${status}</h1>`));
    }
    const metrics = await (await fetch(`${url}/metrics`)).text();
    assert.match(metrics, /^mlmodelscope_http_requests_total\{code="4xx"\} 18$/m);
    assert.match(metrics, /^mlmodelscope_http_requests_total\{code="5xx"\} 8$/m);
  });

  it('tells nothing about a defect of the server', async (t) => {
    const failing = () => Promise.reject(new TypeError('secret of the server'));
    const { url } = await webWith(t, { store: { measurementsOf: failing } });
    const answer = await fetch(`${url}/api/v1${BRICK}`);
    assert.equal(answer.status, 500);
    const message = 'an internal error; the server goes on';
    assert.deepEqual(await jsonOf(answer), { code: 'internal', message });
    const page = await (await fetch(`${url}${BRICK}`)).text();
    assert.ok(page.includes(message) && !page.includes('secret'));
  });

  it('leads back to where a visitor without a token wanted to go', async (t) => {
    const { url } = await webWith(t, { security: { token: 'one-token-0123456789' } });
    const page = await fetch(`${url}/submit?plugin=load&of=a%26b`);
    assert.equal(page.status, 401);
    const text = await page.text();
    assert.match(text, /action="\/login\?to=%2Fsubmit%3Fplugin%3Dload%26of%3Da%2526b"/);
    assert.match(text, /this call needs a token; log in, or send the header/);
    assert.doesNotMatch(text, /--token-file/);
    const metrics = await fetch(`${url}/metrics`, { method: 'POST' });
    assert.equal(metrics.status, 405);
  });

  it('says what there is at an unknown address', async (t) => {
    const { url } = await webWith(t);
    const message = 'there is nothing at this address; /api/v1/openapi.json lists the API';
    for (const [path, method] of [
      ['/api/v1/nothing', 'GET'],
      ['/nothing', 'POST'],
    ] as const) {
      const answer = await fetch(`${url}${path}`, { method });
      assert.equal(answer.status, 404);
      assert.deepEqual(await jsonOf(answer), { code: 'not_found', message });
    }
    const page = await fetch(`${url}/nothing`);
    assert.equal(page.status, 404);
    assert.match(await page.text(), /there is nothing at this address/);
  });

  it('has headers that protect it in a browser', async (t) => {
    const { url } = await webWith(t);
    for (const path of ['/', '/api/v1/agents', '/nothing', '/metrics']) {
      const { headers } = await fetch(`${url}${path}`);
      for (const [name, value] of Object.entries({
        'content-security-policy': SITE_POLICY,
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'same-origin',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'permissions-policy': 'camera=(), microphone=(), geolocation=()',
        'cache-control': 'no-store',
        'strict-transport-security': null,
      })) {
        assert.equal(headers.get(name), value, `${path}: ${name}`);
      }
    }
  });

  it('has the type of its content', async (t) => {
    const { url, platform, attach } = await webWith(t);
    attach(obedient);
    await until(() => platform.plugins().length === 1);
    const manifest = { dlspec: 'evaluation/v1', name: 'a', version: '1.0.0', plugin: 'fake', models: ['zoo:resnet18'] };
    const body = JSON.stringify({ id: 'an-evaluation', manifest });
    await fetch(`${url}/api/v1/evaluations`, { method: 'POST', headers: JSON_TYPE, body });
    const events = await fetch(`${url}/api/v1/evaluations/an-evaluation/events`);
    assert.match(events.headers.get('content-type') ?? '', /^text\/event-stream/);
    assert.match(await events.text(), /"kind":"done"/);
    for (const [path, type] of [
      ['/api/v1/agents', 'application/json'],
      ['/api/v1/openapi.json', 'application/json'],
      ['/api/v1/evaluations/an-evaluation/result', 'application/json'],
      ['/metrics', 'text/plain; version=0.0.4; charset=utf-8'],
      ['/', 'text/html; charset=UTF-8'],
    ] as const) {
      const { status, headers } = await fetch(`${url}${path}`);
      assert.deepEqual([status, headers.get('content-type')], [200, type], path);
    }
    const text = await (await fetch(`${url}/api/v1/openapi.json`)).text();
    assert.match(text, /^\{\n {2}"openapi": "3\.1\.0",\n/);
  });
});

describe('a request over HTTP', { timeout: 60_000 }, () => {
  it('has a body of at most 9 MiB, and a form of at most 4 KiB', async (t) => {
    const { url } = await webWith(t, { security: { token: 'one-token-0123456789' } });
    const authorization = 'Bearer one-token-0123456789';
    const sized = (bytes: number): string => `"${'x'.repeat(bytes - 2)}"`;
    for (const [bytes, status] of [
      [9 * MIB, 400],
      [9 * MIB + 1, 429],
    ] as const) {
      const headers = { ...JSON_TYPE, authorization };
      const answer = await fetch(`${url}/api/v1/evaluations`, { method: 'POST', headers, body: sized(bytes) });
      assert.equal(answer.status, status, `${bytes} bytes`);
      const { message } = z.object({ message: z.string() }).parse(await answer.json());
      assert.match(message, status === 400 ? /^body: expected an object/ : /^the body has more than 9 MiB; use the/);
    }
    for (const [bytes, status] of [
      [4096, 401],
      [4097, 429],
    ] as const) {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      const body = `token=${'x'.repeat(bytes - 6)}`;
      assert.equal((await fetch(`${url}/login`, { method: 'POST', headers, body })).status, status, `${bytes} bytes`);
    }
  });

  it('has headers of at most 16 KiB', async (t) => {
    const { url } = await webWith(t);
    const withHeader = (length: number) =>
      statusOf(`${url}/api/v1/agents`, { headers: { 'x-long': 'x'.repeat(length) } });
    assert.equal(await withHeader(15.75 * 1024), 200);
    assert.equal(await withHeader(16 * 1024), 431);
  });

  it('has JSON in its body, and says so', async (t) => {
    const { url } = await webWith(t);
    const post = async (type: string): Promise<string> => {
      const headers: Record<string, string> = type === '' ? {} : { 'content-type': type };
      // Bytes, because fetch adds a type to a text.
      const answer = await fetch(`${url}/api/v1/evaluations`, { method: 'POST', headers, body: Buffer.from('{}') });
      assert.equal(answer.status, 400);
      return z.object({ code: z.literal('usage'), message: z.string() }).parse(await answer.json()).message;
    };
    for (const type of ['application/json', 'Application/JSON; charset=utf-8'])
      assert.match(await post(type), /^manifest: expected/, type);
    for (const type of ['', 'text/plain', 'application/jsonlines', 'text/plain; application/json'])
      assert.equal(await post(type), 'expected a body with the content type application/json', type);
  });

  it('waits while eight others with a body are answered', async (t) => {
    let asked = 0;
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const cancel = async (): Promise<never> => {
      asked++;
      await released;
      throw new PlatformError('not_found', 'none');
    };
    const { url } = await webWith(t, { platform: { cancel } });
    const post = () =>
      fetch(`${url}/api/v1/evaluations/an-evaluation/cancel`, { method: 'POST', headers: JSON_TYPE, body: '{}' });
    const answers = Array.from({ length: 9 }, post);
    await until(() => asked >= 8);
    // Requests without a body do not wait. By their answers, the ninth has come as well.
    for (let count = 0; count < 20; count++) await fetch(`${url}/api/v1/agents`);
    assert.equal(asked, 8);
    release();
    for (const { status } of await Promise.all(answers)) assert.equal(status, 404);
    assert.equal(asked, 9);
  });

  it('ends its work when the client leaves, and when the server closes', async (t) => {
    const signals: AbortSignal[] = [];
    const get = (_id: string, signal?: AbortSignal): Promise<never> => {
      signals.push(signal ?? assert.fail());
      return new Promise(() => {});
    };
    const { url, server } = await webWith(t, { platform: { get } });
    const leaving = new AbortController();
    const left = fetch(`${url}/api/v1/evaluations/an-evaluation`, { signal: leaving.signal });
    await until(() => signals.length === 1);
    leaving.abort();
    await assert.rejects(left);
    await until(() => signals[0]?.aborted === true);
    const open = fetch(`${url}/api/v1/evaluations/an-evaluation`).catch(() => undefined);
    await until(() => signals.length === 2);
    await server.close();
    await open;
    assert.ok(signals[1]?.aborted === true);
    assert.ok(refusal('unavailable', /^the server is shutting down$/)(signals[1]?.reason));
    await assert.rejects(fetch(url));
  });

  it('is refused with parameters that cannot be, by their names', async (t) => {
    const { url } = await webWith(t);
    for (const [path, name] of [
      ['/api/v1/bricks/x', 'signature'],
      ['/api/v1/evaluations/x', 'id'],
      [`/api/v1/estimates?q=${'x'.repeat(1001)}`, 'q'],
    ] as const) {
      const answer = await fetch(`${url}${path}`);
      assert.equal(answer.status, 400, path);
      assert.deepEqual(await jsonOf(answer), {
        code: 'usage',
        message: `${name}: not a value that is expected here`,
      });
    }
  });

  it('for events names the last event that it has by a number, in its header or in its query', async (t) => {
    const { url } = await webWith(t);
    const events = async (query: string, headers: Readonly<Record<string, string>> = {}) =>
      (await fetch(`${url}/api/v1/evaluations/an-evaluation/events${query}`, { headers })).status;
    // Where the number is right, the evaluation is not there.
    for (const after of ['0', '12', '999999999999']) assert.equal(await events(`?after=${after}`), 404, after);
    assert.equal(await events(''), 404);
    for (const after of ['', '-1', '1.5', 'x', '1x', 'x1', '1234567890123'])
      assert.equal(await events(`?after=${after}`), 400, after);
    assert.equal(await events('?after=1', { 'last-event-id': 'x' }), 400, 'the header counts');
    assert.equal(await events('?after=x', { 'last-event-id': '1' }), 404, 'the header counts');
  });

  it('is not answered at an address that other machines reach without a token and TLS', async (t) => {
    const { platform } = await webWith(t);
    const store = await openMemoryStore();
    const common = { platform, store, agents: directoryWith(), agentSecurity: {}, security: {} };
    const showResult = () => Promise.resolve(undefined);
    const listen = { host: '0.0.0.0', port: 0 };
    const asked = startWebServer({ ...common, showResult, listen });
    await assertRefused(asked, 'usage', /0\.0\.0\.0 can be reached from other machines/);
  });
});
