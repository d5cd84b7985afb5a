import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { once } from 'node:events';
import http from 'node:http';
import { json } from 'node:stream/consumers';
import { z } from 'zod';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { hashToken } from '../../src/rpc/accepted-tokens.js';
import { startServer } from '../../src/server/server.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { ModelManifest } from '../../src/generated/carml/org/dlframework/registry.js';
import { PlatformError } from '../../src/base/errors.js';
import { startAgent } from '../../src/agent/services/server.js';
import { coloredPictures } from '../agent/support/colored-pictures.js';
import { predictionModels } from '../agent/support/prediction-models.js';
import { offer } from '../directory/support/offer.js';
import { sampleMeasurement, signatureOf, SYSTEM } from '../store/sample-measurement.js';
import { until } from '../support/until.js';
import { keepEstimates } from '../../src/measuring/estimates.js';
import { AGENT, directoryWith } from './fake-platform.js';
import { DONE, patient, scripted, untilStopped } from './scripted-evaluation.js';
import { fillStore, HOSTILE, newEstimate, type SiteOptions, siteServing, stepwise } from './site-server.js';

const MANIFEST = { dlspec: 'evaluation/v1', name: 'tiny', version: '1.0.0', plugin: 'fake', models: ['zoo:resnet18'] };
const TOKENS = { reader: 'reader-token-0123456789', submitter: 'submitter-token-0123456' };

const acceptedTokens = {
  find: (shown: string) => {
    if (shown === TOKENS.reader) return { name: 'reader', role: 'read' as const, sha256: hashToken(shown) };
    if (shown === TOKENS.submitter) return { name: 'submitter', role: 'submit' as const, sha256: hashToken(shown) };
    return undefined;
  },
};

function post(url: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  const sent = typeof body === 'string' ? body : JSON.stringify(body);
  return fetch(url, { method: 'POST', body: sent, headers: { 'content-type': 'application/json', ...headers } });
}

async function jsonOf(answer: Response): Promise<Record<string, unknown>> {
  return (await answer.json()) as Record<string, unknown>;
}

/** A request with any Host header, which fetch does not send. */
function statusWith(url: string, headers: Readonly<Record<string, string>>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    http.get(url, { headers }, (answer) => resolve(answer.resume().statusCode)).on('error', reject);
  });
}

/** Events of a stream until it ends. */
async function streamed(url: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  return (await fetch(url, { headers })).text();
}

const PAGES = ['/', '/systems', '/evaluations', '/agents', '/submit', '/predict', '/compare', '/model?name=resnet18'];

describe('the API over HTTP', { timeout: 60_000 }, () => {
  it('describes itself, and answers as it describes', async (t) => {
    const { url, store, attach } = await siteServing(t);
    await fillStore(store);
    await attach(scripted(stepwise(1, () => Promise.resolve())));
    const { id } = z
      .object({ id: z.string() })
      .parse(await jsonOf(await post(`${url}/api/v1/evaluations`, { manifest: MANIFEST })));
    await streamed(`${url}/api/v1/evaluations/${id}/events`);
    const { estimates } = z
      .object({ estimates: z.array(z.object({ subject: z.string() })) })
      .parse(await jsonOf(await fetch(`${url}/api/v1/estimates`)));
    const described = z
      .object({
        openapi: z.literal('3.1.0'),
        paths: z.record(z.string(), z.record(z.string(), z.unknown())),
        components: z.object({ securitySchemes: z.record(z.string(), z.unknown()) }),
      })
      .parse(await jsonOf(await fetch(`${url}/api/v1/openapi.json`)));
    const eventsSchema = z.object({ parameters: z.array(z.object({ name: z.string(), in: z.string() })) });
    const { parameters } = eventsSchema.parse(described.paths['/api/v1/evaluations/{id}/events']?.['get']);
    assert.deepEqual(
      parameters.map((parameter) => [parameter.name, parameter.in]),
      [
        ['id', 'path'],
        ['after', 'query'],
        ['Last-Event-ID', 'header'],
      ],
    );
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const values: Record<string, string> = { id, subject: estimates[0]?.subject ?? '', signature: signatureOf(1) };
    const checked: string[] = [];
    for (const [path, methods] of Object.entries(described.paths)) {
      const { get } = z.object({ get: z.unknown() }).partial().parse(methods);
      if (get === undefined || path.endsWith('/events')) continue;
      const schema = z
        .object({
          responses: z.object({
            '200': z.object({ content: z.object({ 'application/json': z.object({ schema: z.looseObject({}) }) }) }),
          }),
        })
        .parse(get).responses['200'].content['application/json'].schema;
      const answer = await fetch(`${url}${path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '')}`);
      assert.equal(answer.status, 200, path);
      assert.equal(ajv.validate(schema, await answer.json()), true, `${path}: ${ajv.errorsText()}`);
      checked.push(path);
    }
    assert.equal(checked.length, 9);
    assert.deepEqual(described.components.securitySchemes['session'], {
      type: 'apiKey',
      in: 'cookie',
      name: 'session',
    });
  });

  it('streams events, and continues after the last one that a client has', async (t) => {
    const { url, attach } = await siteServing(t);
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    await attach(scripted(stepwise(2, () => held)));
    const { id } = await jsonOf(await post(`${url}/api/v1/evaluations`, { manifest: MANIFEST }));
    const address = `${url}/api/v1/evaluations/${String(id)}/events`;
    const all = streamed(address);
    setTimeout(release, 100);
    const numbers = [...(await all).matchAll(/^id: (\d+)$/gm)].map(([, number]) => Number(number));
    assert.deepEqual(
      numbers,
      numbers.map((_, index) => index + 1),
    );
    const rest = await streamed(address, { 'last-event-id': String(numbers.length - 1) });
    assert.match(rest, /"kind":"done"/);
    assert.doesNotMatch(rest, /"kind":"planned"/);
    assert.doesNotMatch(rest, /resultJson/);
    const end = await fetch(address, { headers: { 'last-event-id': String(numbers.length) } });
    assert.equal(end.status, 204, 'or a browser would connect again and again');
    assert.equal((await fetch(`${address}?after=x`)).status, 400);
  });

  it('refuses another method of a known address, and names those that it has', async (t) => {
    const { url } = await siteServing(t);
    for (const [method, path, allowed] of [
      ['DELETE', '/api/v1/evaluations', 'GET, HEAD, POST'],
      ['POST', '/api/v1/estimates', 'GET, HEAD'],
      ['PUT', '/api/v1/evaluations/some-id-1/events', 'GET, HEAD'],
      ['POST', '/metrics', 'GET, HEAD'],
      ['OPTIONS', '/systems', 'GET, HEAD'],
      ['PATCH', '/login', 'GET, HEAD, POST'],
    ] as const) {
      const { status, headers } = await fetch(`${url}${path}`, { method });
      assert.deepEqual([status, headers.get('allow')], [405, allowed], `${method} ${path}`);
    }
    const answer = await post(`${url}/api/v1/estimates`, {});
    assert.deepEqual(await jsonOf(answer), {
      code: 'usage',
      message: 'POST is not a method of this address; use GET, HEAD',
    });
    const unknown = await fetch(`${url}/api/v1/nothing`, { method: 'DELETE' });
    assert.deepEqual([unknown.status, unknown.headers.get('allow')], [404, null]);
  });

  it('refuses a key or a state in a query that it does not know, and names those that it knows', async (t) => {
    const { url } = await siteServing(t);
    for (const [path, known] of [
      ['/api/v1/estimates?modle=resnet18', /unknown key .*modle.* expected q, system, plugin, batch, model/],
      ['/api/v1/agents?q=x', /unknown key .* none is known here/],
      ['/api/v1/evaluations/some-id-1/events?from=2', /expected after/],
      ['/api/v1/openapi.json?x', /none is known here/],
      ['/metrics?x=1', /none is known here/],
      ['/?sytem=x', /expected q, system, plugin, batch/],
      ['/compare?of=x&constructor=y', /unknown key .*constructor/],
      ['/login?next=x', /expected to/],
      ['/evaluations?state=nope', /unknown state .*nope.* expected queued, .* or cancelled/],
    ] as const) {
      const answer = await fetch(`${url}${path}`);
      assert.equal(answer.status, 400, path);
      assert.match(await answer.text(), known);
    }
    assert.equal((await fetch(`${url}/api/v1/estimates?model=resnet18&q=`)).status, 200);
  });

  it('submits once under one id, and cancels', async (t) => {
    const { url, attach } = await siteServing(t);
    await attach(
      scripted(async function* (_request, context) {
        yield { kind: 'note', level: 'info', message: 'at work' };
        await untilStopped(context);
      }),
    );
    const body = { id: 'twice-the-same', manifest: MANIFEST };
    for (let times = 0; times < 2; times++) assert.equal((await post(`${url}/api/v1/evaluations`, body)).status, 200);
    const other = await post(`${url}/api/v1/evaluations`, { ...body, manifest: { ...MANIFEST, batch_size: 2 } });
    assert.equal(other.status, 400);
    await until(async () => {
      const { lastEvent } = await jsonOf(await fetch(`${url}/api/v1/evaluations/twice-the-same`));
      return JSON.stringify(lastEvent).includes('at work');
    });
    const agents = await (await fetch(`${url}/agents`)).text();
    assert.match(agents, /href="\/evaluations\/twice-the-same"/);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    assert.match(metrics, /^mlmodelscope_evaluations\{state="running"\} 1$/m);
    const cancelled = await post(`${url}/api/v1/evaluations/twice-the-same/cancel`, {});
    assert.equal((await jsonOf(cancelled))['state'], 'cancelled');
  });

  it('names every problem of a submission', async (t) => {
    const { url, attach } = await siteServing(t);
    await attach(scripted(stepwise(1, () => Promise.resolve())));
    const wrong = [
      [{ manifest: { ...MANIFEST, threads: 'many' } }, /^threads: expected/m],
      [{ manifest: { ...MANIFEST, models: ['gone.onnx'] } }, /gone\.onnx/],
      [{ manifest: { ...MANIFEST, models: ['../../etc/passwd.onnx'] } }, /no such file in the submission/],
      [{ manifest: MANIFEST, files: [{ path: 'evaluation.yml', base64: '' }] }, /called evaluation\.yml/],
      [{ manifest: MANIFEST, files: [{ path: 'a.onnx', base64: '!' }] }, /base64/],
      [{}, /manifest/],
      ['{', /no JSON/],
      [`${'['.repeat(1000)}${']'.repeat(1000)}`, /no JSON/],
    ] as const;
    for (const [body, message] of wrong) {
      const answer = await post(`${url}/api/v1/evaluations`, body);
      assert.equal(answer.status, 400);
      assert.match(String((await jsonOf(answer))['message']), message);
    }
  });
});

it('predicts for a picture on an agent, with TLS where the agent says so', { timeout: 60_000 }, async (t) => {
  const agent = await startAgent({ resolveModel: predictionModels() });
  t.after(() => agent.close());
  const directory = directoryWith();
  const { url } = await siteServing(t, { directory });
  const [picture = Buffer.alloc(0)] = await coloredPictures(1);
  const body = { model: 'classifier', agent: agent.address, picture: picture.toString('base64') };
  const predict = async (tls: boolean) => {
    directory.register(offer({ address: agent.address, tls }));
    return post(`${url}/api/v1/predictions`, body);
  };
  const { rows, milliseconds, warning } = z
    .object({
      rows: z.array(
        z.object({ result: z.string().min(1), score: z.string().regex(/^[\d.e-]+$/), details: z.string() }),
      ),
      milliseconds: z.number().positive(),
      warning: z.null(),
    })
    .parse(await jsonOf(await predict(false)));
  assert.ok(rows.length > 0 && rows.length <= 10 && milliseconds < 60_000 && warning === null);
  for (const [changes, status, message] of [
    [{ agent: '127.0.0.1:1' }, 404, /^no agent is registered at this address; choose one of the list$/],
    [{ picture: Buffer.from('no picture').toString('base64') }, 400, /picture/],
    [{ model: 'nothing' }, 404, /nothing/],
  ] as const) {
    const refused = await post(`${url}/api/v1/predictions`, { ...body, ...changes });
    assert.equal(refused.status, status, JSON.stringify(changes));
    assert.match(String((await jsonOf(refused))['message']), message);
  }
  assert.equal((await predict(true)).status, 503);
  const warningWith = async (...graphs: readonly string[]) => {
    const models = graphs.map((graphPath, index) => {
      return ModelManifest.fromPartial({ name: 'classifier', version: `1.0.${index}`, model: { graphPath } });
    });
    directory.register(offer({ address: agent.address, tls: false, models }));
    return (await jsonOf(await post(`${url}/api/v1/predictions`, body)))['warning'];
  };
  assert.equal(await warningWith('own.onnx', 'zoo:resnet18'), null, 'the first is the one that is opened');
  assert.doesNotMatch(await (await fetch(`${url}/predict`)).text(), /made-up/);
  assert.match(String(await warningWith('zoo:resnet18')), /^the weights of classifier are made up/);
  assert.match(await (await fetch(`${url}/predict`)).text(), /classifier, with made-up weights<\/option>/);
});

describe('access over HTTP', { timeout: 60_000 }, () => {
  it('changes nothing by GET, and nothing for a page of another site', async (t) => {
    const { url, attach } = await siteServing(t);
    await attach(scripted(stepwise(1, () => Promise.resolve())));
    const body = { manifest: MANIFEST };
    const foreign = [
      { origin: 'http://example.com' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'content-type': 'text/plain' },
      { 'content-type': 'application/x-www-form-urlencoded' },
    ];
    for (const headers of foreign) {
      const { status } = await post(`${url}/api/v1/evaluations`, body, headers);
      assert.ok(status === 403 || status === 400, JSON.stringify(headers));
    }
    for (const path of ['/api/v1/evaluations/x/cancel', '/api/v1/predictions', '/logout']) {
      const { status, headers } = await fetch(`${url}${path}`);
      assert.deepEqual([status, headers.get('allow')], [405, 'POST'], path);
    }
    const { evaluations } = await jsonOf(await fetch(`${url}/api/v1/evaluations`));
    assert.deepEqual(evaluations, []);
    // A link of another site leads here.
    for (const method of ['GET', 'HEAD']) {
      assert.equal((await fetch(url, { method, headers: { 'sec-fetch-site': 'cross-site' } })).status, 200, method);
    }
    // A name of another site that leads to this machine, as a rebinding attack has it.
    for (const host of ['example.com', 'example.com:80', '127.0.0.1.example.com', '127.0.0.1@example.com']) {
      assert.ok([400, 403].includes((await statusWith(`${url}/api/v1/agents`, { host })) ?? 0), host);
    }
    for (const host of ['localhost:1', '127.0.0.1', '[::1]:7']) {
      assert.equal(await statusWith(`${url}/api/v1/agents`, { host }), 200, host);
    }
  });

  it('has strict headers on every answer', async (t) => {
    const { url } = await siteServing(t);
    for (const path of [...PAGES, '/nothing', '/api/v1/agents', '/api/v1/nothing', '/metrics', '/login']) {
      const { headers } = await fetch(`${url}${path}`);
      assert.match(headers.get('content-security-policy') ?? '', /^default-src 'none'; script-src 'self';/, path);
      assert.equal(headers.get('x-content-type-options'), 'nosniff', path);
      assert.equal(headers.get('cache-control'), 'no-store', path);
      assert.equal(headers.get('access-control-allow-origin'), null, path);
    }
  });

  it('with one token, shows reads to all, and results and effects to its holder', async (t) => {
    const token = 'one-token-0123456789';
    const { url, attach } = await siteServing(t, { token });
    await attach(scripted(stepwise(1, () => Promise.resolve())));
    const body = { id: 'with-a-token', manifest: MANIFEST };
    assert.equal((await post(`${url}/api/v1/evaluations`, body)).status, 401);
    const authorization = `Bearer ${token}`;
    assert.equal((await post(`${url}/api/v1/evaluations`, body, { authorization })).status, 200);
    await streamed(`${url}/api/v1/evaluations/with-a-token/events`);
    assert.equal((await fetch(`${url}/api/v1/evaluations/with-a-token/result`)).status, 401);
    const result = await fetch(`${url}/api/v1/evaluations/with-a-token/result`, { headers: { authorization } });
    assert.deepEqual(await result.json(), { answer: 42 });
    const page = await (await fetch(`${url}/evaluations/with-a-token`)).text();
    assert.match(page, /The result is shown to visitors who have logged in/);
    assert.doesNotMatch(page, /Estimated and measured/);
    const own = await (await fetch(`${url}/evaluations/with-a-token`, { headers: { authorization } })).text();
    assert.match(own, /Estimated and measured/);
    for (const path of ['/submit', `/bricks/${signatureOf(1)}`, `/api/v1/bricks/${signatureOf(1)}`]) {
      assert.equal((await fetch(`${url}${path}`)).status, 401, path);
    }
  });

  it('offers to cancel an evaluation to those who may', async (t) => {
    const token = 'one-token-0123456789';
    const { url, attach } = await siteServing(t, { token });
    await attach(patient);
    const authorization = `Bearer ${token}`;
    const body = { id: 'to-be-cancelled', manifest: MANIFEST };
    assert.equal((await post(`${url}/api/v1/evaluations`, body, { authorization })).status, 200);
    const page = async (headers = {}) => (await fetch(`${url}/evaluations/to-be-cancelled`, { headers })).text();
    assert.doesNotMatch(await page(), /Cancel this evaluation/);
    assert.match(await page({ authorization }), /Cancel this evaluation/);
  });

  it('with roles, shows nothing without a token, and each role what it may see', async (t) => {
    const { url } = await siteServing(t, { acceptedTokens });
    for (const path of [...PAGES, '/api/v1/agents', '/metrics', '/api/v1/evaluations/some-id-123/events']) {
      assert.equal((await fetch(`${url}${path}`)).status, 401, path);
    }
    const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
    assert.equal((await fetch(`${url}/`, as(TOKENS.reader))).status, 200);
    assert.equal((await fetch(`${url}/submit`, as(TOKENS.reader))).status, 403);
    assert.equal((await fetch(`${url}/submit`, as(TOKENS.submitter))).status, 200);
    const { authorization } = as(TOKENS.reader).headers;
    assert.equal((await post(`${url}/api/v1/evaluations`, { manifest: MANIFEST }, { authorization })).status, 403);
  });

  it('gives a browser a session for a token, which ends with the logout and with the token', async (t) => {
    let isAccepted = true;
    const find = (shown: string) => (isAccepted ? acceptedTokens.find(shown) : undefined);
    const { url } = await siteServing(t, { acceptedTokens: { find } });
    const logIn = (token: string, to = '/') =>
      fetch(`${url}/login?to=${encodeURIComponent(to)}`, {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams({ token }),
      });
    const wrong = await logIn('wrong');
    assert.equal(wrong.status, 401);
    assert.equal(wrong.headers.get('set-cookie'), null);
    const answer = await logIn(TOKENS.reader, '//example.com/');
    assert.equal(answer.headers.get('location'), '/', 'only paths of this site');
    const cookie = answer.headers.get('set-cookie') ?? '';
    assert.match(cookie, /^session=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/);
    assert.ok(!cookie.includes(TOKENS.reader));
    const [session = ''] = cookie.split(';');
    const see = async () => (await fetch(`${url}/`, { headers: { cookie: session } })).status;
    assert.equal(await see(), 200);
    isAccepted = false;
    assert.equal(await see(), 401);
    isAccepted = true;
    await fetch(`${url}/logout`, { method: 'POST', redirect: 'manual', headers: { cookie: session } });
    assert.equal(await see(), 401);
    assert.equal((await logIn('x'.repeat(5000))).status, 429);
  });

  it('refuses an address that other machines reach without TLS and a token', async () => {
    const store = await openMemoryStore();
    const http = { listen: { host: '0.0.0.0', port: 0 }, showResult: () => Promise.resolve(undefined) };
    const listen = { host: '127.0.0.1', port: 0 };
    await assert.rejects(startServer({ listen, store, http }), /0\.0\.0\.0 can be reached from other machines/);
  });

  it('refuses bodies beyond the limit, and headers beyond theirs', async (t) => {
    const { url } = await siteServing(t);
    const large = await post(`${url}/api/v1/evaluations`, { manifest: { name: 'x'.repeat(10 * 2 ** 20) } });
    assert.equal(large.status, 429);
    assert.equal(await statusWith(`${url}/`, { 'x-long': 'x'.repeat(20_000) }), 431);
  });

  it('needs a body whose size is known before', async (t) => {
    const { url } = await siteServing(t);
    const message = async (headers: http.OutgoingHttpHeaders): Promise<string> => {
      const request = http.request(`${url}/api/v1/evaluations`, { method: 'POST', headers });
      // Node's client adds a content-length of 0 otherwise.
      request.useChunkedEncodingByDefault = false;
      request.removeHeader('content-length');
      if (headers['transfer-encoding'] === undefined) request.end();
      else request.end('{}');
      const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
      assert.equal(answer.statusCode, 400);
      return ((await json(answer)) as { readonly message: string }).message;
    };
    assert.match(await message({}), /content type application\/json/);
    const chunked = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
    assert.match(await message(chunked), /a content-length/);
  });

  it('reads no body of a client without access', async (t) => {
    const { url } = await siteServing(t, { token: 'one-token-0123456789' });
    const sent = await new Promise<{ readonly status: number | undefined }>((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
      // The answer comes while the body has not ended.
      const request = http.request(`${url}/api/v1/evaluations`, { method: 'POST', headers }, (answer) => {
        resolve({ status: answer.resume().statusCode });
        request.destroy();
      });
      request.on('error', reject).write('{"manifest": ');
    });
    assert.equal(sent.status, 401);
  });
});

/** Every page, with hostile names in every field. */
describe('pages', { timeout: 60_000 }, () => {
  async function pageWith(t: TestContext, options: SiteOptions = {}) {
    const served = await siteServing(t, options);
    await fillStore(served.store);
    return served;
  }

  it('filter, search and compare by their address', async (t) => {
    const { url, store } = await pageWith(t);
    const rows = async (path: string) =>
      [...(await (await fetch(`${url}${path}`)).text()).matchAll(/<tr>/g)].length - 1;
    assert.equal(await rows('/'), 8);
    assert.equal(await rows('/?q=squeeze'), 1);
    assert.equal(await rows('/?q=squeeze%20nothing'), -1);
    assert.equal(await rows('/?plugin=latency'), -1);
    const { estimates } = z
      .object({ estimates: z.array(z.object({ subject: z.string(), system: z.string(), settings: z.string() })) })
      .parse(await jsonOf(await fetch(`${url}/api/v1/estimates?model=resnet18`)));
    const two = estimates.filter(({ settings }) => settings === '');
    assert.equal(two.length, 2);
    const compared = await (await fetch(`${url}/compare?of=${two[0]?.subject}&of=${two[1]?.subject}`)).text();
    assert.match(compared, /1\.10 x|0\.909 x/);
    for (const [times, status] of [
      [20, 200],
      [21, 400],
    ] as const) {
      const query = Array(times).fill(`of=${two[0]?.subject}`).join('&');
      assert.equal((await fetch(`${url}/compare?${query}`)).status, status, `${times}`);
    }
    for (const { system, subject } of two) {
      assert.equal((await fetch(`${url}/systems/${system}`)).status, 200);
      assert.equal((await fetch(`${url}/estimates/${subject}`)).status, 200);
    }
    assert.ok((await store.measurementsOf(signatureOf(1))).length > 0);
    assert.match(await (await fetch(`${url}/bricks/${signatureOf(1)}`)).text(), /2 measurements in the store/);
    for (const path of [
      '/compare?of=x',
      '/systems/x',
      '/model?name=x',
      `/bricks/${'0'.repeat(64)}`,
      '/estimates/x',
      '/evaluations/unknown-id',
    ]) {
      assert.equal((await fetch(`${url}${path}`)).status, 404, path);
    }
  });

  it('find an estimate by its settings', async (t) => {
    const { url, store } = await siteServing(t);
    await keepEstimates(store, SYSTEM, [newEstimate({ settings: 'threads=7' })]);
    assert.match(await (await fetch(`${url}/?q=threads%3D7`)).text(), /<tr>.*resnet18/s);
    assert.doesNotMatch(await (await fetch(`${url}/?q=threads%3D8`)).text(), /<tr>.*resnet18/s);
  });

  it('offer an attached plugin once, however often it is attached', async (t) => {
    const { server, url, attach } = await siteServing(t);
    for (let times = 0; times < 2; times++) await attach(patient);
    await until(() => server.platform.plugins().length === 2);
    const page = await (await fetch(`${url}/submit`)).text();
    assert.equal(page.match(/fake 1\.2\.3/g)?.length, 1);
  });

  it('show an evaluation whose result cannot be shown, with the reason', async (t) => {
    const problem = 'the result cannot be shown: <b>boom';
    const showResult = () => Promise.reject(new PlatformError('internal', problem));
    const { url, attach } = await pageWith(t, { http: { showResult } });
    await attach(scripted(stepwise(1, () => Promise.resolve())));
    const id = 'not-shown-evaluation';
    assert.equal((await post(`${url}/api/v1/evaluations`, { id, manifest: MANIFEST })).status, 200);
    await streamed(`${url}/api/v1/evaluations/${id}/events`);
    const answer = await fetch(`${url}/evaluations/${id}`);
    assert.equal(answer.status, 200);
    const page = await answer.text();
    for (const part of [/<h1>tiny<\/h1>/, /cannot be shown: &#60;b&#62;boom/, /<h2>Estimates<\/h2>/, /note 0/]) {
      assert.match(page, part);
    }
  });

  it('say what is missing where there is nothing to compare', async (t) => {
    const { url, attach } = await pageWith(t);
    assert.match(await (await fetch(`${url}/compare`)).text(), /Nothing is chosen\..*href="\/evaluations"/s);
    await attach(
      scripted(async function* () {
        yield await Promise.resolve(DONE);
      }),
    );
    const id = 'without-estimates';
    assert.equal((await post(`${url}/api/v1/evaluations`, { id, manifest: MANIFEST })).status, 200);
    await streamed(`${url}/api/v1/evaluations/${id}/events`);
    const page = await (await fetch(`${url}/compare?evaluation=${id}`)).text();
    assert.match(page, /href="\/evaluations\/without-estimates">tiny without-<\/a> has no estimates/);
  });

  it('name compared estimates by what differs', async (t) => {
    const { url } = await pageWith(t);
    const { estimates } = z
      .object({ estimates: z.array(z.object({ subject: z.string(), settings: z.string() })) })
      .parse(await jsonOf(await fetch(`${url}/api/v1/estimates?model=resnet18`)));
    const two = estimates.filter(({ settings }) => settings === '');
    const page = await (await fetch(`${url}/compare?of=${two[0]?.subject}&of=${two[1]?.subject}`)).text();
    const names = [...page.matchAll(/<span class="name">([^<]*)</g)].map(([, name = '']) => name);
    assert.ok(
      names.slice(0, 2).every((name) => name.startsWith('on ') && !name.includes('batch')),
      names.join('\n'),
    );
    assert.match(page, /In common: resnet18, batch 1, dlbricks/);
    assert.match(page, /<td class="right">1<\/td>/);
  });

  it('say that a plugin is not attached, and show commands as code', async (t) => {
    const { url, attach } = await siteServing(t);
    assert.match(await (await fetch(url)).text(), /<code>mlmodelscope dlbricks run MODEL<\/code>/);
    await attach(scripted(stepwise(1, () => Promise.resolve())));
    const page = await (await fetch(`${url}/submit?plugin=nope`)).text();
    assert.match(page, /The plugin nope is not attached/);
    assert.doesNotMatch(page, /<form class="fields"/);
  });

  it('keep the line breaks of an event', async (t) => {
    const { url, attach } = await pageWith(t);
    await attach(
      scripted(async function* () {
        await Promise.resolve();
        yield { kind: 'note', level: 'warning', message: 'broken:\r\nError: boom\n    at run\u0007' };
        yield DONE;
      }),
    );
    const id = 'noted-evaluation';
    assert.equal((await post(`${url}/api/v1/evaluations`, { id, manifest: MANIFEST })).status, 200);
    await streamed(`${url}/api/v1/evaluations/${id}/events`);
    assert.match(
      await (await fetch(`${url}/evaluations/${id}`)).text(),
      /warning: broken:\nError: boom\n {4}at run\ufffd<\/li>/,
    );
  });

  it('escape every foreign text', async (t) => {
    const text = HOSTILE.slice(0, 4).join(' ');
    const directory = directoryWith(AGENT.address);
    const models = [ModelManifest.fromPartial({ name: text, version: text })];
    const runtime = { hostname: text, framework: text, frameworkVersion: text };
    directory.register(offer({ ...runtime, processor: text, operatingSystem: text, architecture: text, models }));
    const { url, store, attach } = await pageWith(t, { directory });
    const failure = { kind: 'failure', reason: 'crashed', message: text } as const;
    await store.putMeasurement(sampleMeasurement(1, { occasion: 3, outcome: failure }));
    await attach(scripted(stepwise(1, () => Promise.resolve())));
    const id = 'hostile-evaluation';
    assert.equal((await post(`${url}/api/v1/evaluations`, { id, manifest: MANIFEST })).status, 200);
    await streamed(`${url}/api/v1/evaluations/${id}/events`);
    const { estimates } = z
      .object({ estimates: z.array(z.object({ subject: z.string(), system: z.string(), model: z.string() })) })
      .parse(await jsonOf(await fetch(`${url}/api/v1/estimates`)));
    const places = [
      ...PAGES,
      ...estimates.map(({ subject }) => `/estimates/${subject}`),
      ...estimates.map(({ system }) => `/systems/${system}`),
      ...HOSTILE.slice(0, 4).map((name) => `/model?name=${encodeURIComponent(name)}`),
      `/compare?${estimates.map(({ subject }) => `of=${subject}`).join('&')}&evaluation=${id}`,
      `/bricks/${signatureOf(1)}`,
      `/evaluations/${id}`,
      `/?q=${encodeURIComponent(text)}&system=${encodeURIComponent(text)}&batch=${encodeURIComponent(text)}`,
      `/model?name=${encodeURIComponent(text)}`,
      `/nothing/${encodeURIComponent(text)}`,
    ];
    const escaped = new Set<string>();
    for (const place of places) {
      const page = await (await fetch(`${url}${place}`)).text();
      assert.doesNotMatch(page, /<script>|<img|\u202e/, place);
      if (page.includes('&#60;/script&#62;')) escaped.add(place.split(/[?/]/)[1] ?? '');
    }
    assert.deepEqual([...escaped].sort(), [
      '',
      'agents',
      'bricks',
      'compare',
      'estimates',
      'evaluations',
      'model',
      'predict',
      'systems',
    ]);
  });
});
