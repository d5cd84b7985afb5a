import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { PlatformError } from '../../../src/base/errors.js';
import { ModelManifest } from '../../../src/generated/carml/org/dlframework/registry.js';
import { keepEstimates } from '../../../src/measuring/estimates.js';
import { hashToken } from '../../../src/rpc/accepted-tokens.js';
import { coverageText } from '../../../src/web/site/estimate-cells.js';
import { ASSETS } from '../../../src/web/site/layout.js';
import { ZOO } from '../../../src/zoo/zoo.js';
import { offer } from '../../directory/support/offer.js';
import { sampleMeasurement, sampleSystem, signatureOf, SYSTEM } from '../../store/sample-measurement.js';
import { until } from '../../support/until.js';
import { AGENT, directoryWith } from '../fake-platform.js';
import { DONE, patient, scripted, untilStopped } from '../scripted-evaluation.js';
import { newEstimate, type SiteOptions, siteServing } from '../site-server.js';

const TOKEN = 'one-token-0123456789';
const MANIFEST = { dlspec: 'evaluation/v1', name: 'tiny', version: '1.0.0', plugin: 'fake', models: ['zoo:resnet18'] };
const OTHER_SYSTEM = sampleSystem({ processor: 'Other CPU' });

async function siteWith(t: TestContext, options: SiteOptions = {}) {
  const served = await siteServing(t, options);
  const { url } = served;
  const page = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
    const answer = await fetch(`${url}${path}`, { headers });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  const submit = (id: string, changes = {}, headers = {}): Promise<Response> =>
    fetch(`${url}/api/v1/evaluations`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ id, manifest: { ...MANIFEST, ...changes } }),
    });
  const follow = async (id: string): Promise<string> => (await fetch(`${url}/api/v1/evaluations/${id}/events`)).text();
  return { ...served, page, submit, follow };
}

/** The links to other models, systems and evaluations, by the start of their addresses. */
function linksTo(text: string, start: string): readonly string[] {
  const links = [...text.matchAll(/href="([^"]*)"/g)].map(([, address = '']) => address);
  return [...new Set(links.filter((address) => address.startsWith(start)))];
}

describe('the pages of estimates', { timeout: 60_000 }, () => {
  async function filled(t: TestContext) {
    const site = await siteWith(t);
    await keepEstimates(site.store, SYSTEM, [newEstimate(), newEstimate({ model: 'squeezenet' })]);
    await keepEstimates(site.store, OTHER_SYSTEM, [
      newEstimate({ plugin: 'latency', settings: 'threads=7' }),
      newEstimate({ model: 'alexnet', batch: 4 }),
    ]);
    const answer = await fetch(`${site.url}/api/v1/estimates`);
    const { estimates } = (await answer.json()) as { estimates: { model: string; subject: string; system: string }[] };
    const subjectOf = (model: string): string => estimates.find((one) => one.model === model)?.subject ?? '';
    return { ...site, subjectOf };
  }

  it('show what the query asks for, and keep its words in the form', async (t) => {
    const { page } = await filled(t);
    const models = async (query: string) =>
      linksTo((await page(`/${query}`)).text, '/model?').map((one) => one.slice(12));
    assert.deepEqual((await models('')).toSorted(), ['alexnet', 'resnet18', 'squeezenet']);
    assert.deepEqual(await models('?batch=4'), ['alexnet']);
    assert.deepEqual(await models('?plugin=latency'), ['resnet18']);
    assert.deepEqual((await models(`?system=${SYSTEM.fingerprint}`)).toSorted(), ['resnet18', 'squeezenet']);
    for (const [query, expected] of [
      ['SQUEEZE', 'squeezenet'],
      ['resnet%20threads', 'resnet18'],
      ['other%20alex', 'alexnet'],
      ['%20%20alex%20', 'alexnet'],
      ['latency', 'resnet18'],
    ] as const)
      assert.deepEqual(await models(`?q=${query}`), [expected], query);
    const { text } = await page('/?q=alex&batch=4');
    for (const value of ['alex', '4']) assert.ok(text.includes(`value="${value}"`), value);
  });

  it('show one model, one system, and one history', async (t) => {
    const { page, subjectOf, store } = await filled(t);
    const model = await page('/model?name=resnet18');
    assert.equal(model.status, 200);
    assert.match(model.text, /resnet18/);
    assert.doesNotMatch(model.text, /squeezenet|alexnet/);
    assert.match((await page('/model')).text, /the store has no estimate of this model/);
    assert.match((await page('/systems')).text, /Test CPU @ 3\.00GHz[\s\S]*Other CPU|Other CPU[\s\S]*Test CPU/);
    const system = await page(`/systems/${OTHER_SYSTEM.fingerprint}`);
    assert.match(system.text, /Other CPU/);
    assert.match(system.text, /alexnet/);
    assert.doesNotMatch(system.text, /squeezenet/);
    const history = await page(`/estimates/${subjectOf('squeezenet')}`);
    assert.match(history.text, /squeezenet/);
    assert.match(history.text, /Test CPU/);
    assert.doesNotMatch(history.text, /alexnet/);
    await store.putMeasurement(sampleMeasurement(1, { system: sampleSystem({ processor: 'Measured CPU' }) }));
    const measured = sampleSystem({ processor: 'Measured CPU' }).fingerprint;
    assert.match((await page(`/systems/${measured}`)).text, /Measured CPU/, 'without an estimate');
    const brick = await page(`/bricks/${signatureOf(1)}`);
    assert.match(brick.text, /1 measurement in the store/);
    for (const [path, problem] of [
      ['/systems/x', /the store has no such system/],
      ['/estimates/x', /the store has no such estimate/],
      ['/bricks/x', /the store has no measurement of this brick/],
      ['/model?name=x', /the store has no estimate of this model/],
    ] as const) {
      const { status, text } = await page(path);
      assert.equal(status, 404, path);
      assert.match(text, problem);
    }
  });

  it('compare estimates once each, and offer others of the same models', async (t) => {
    const { page, subjectOf } = await filled(t);
    const one = subjectOf('squeezenet');
    const other = subjectOf('alexnet');
    const { text, status } = await page(`/compare?of=${one}&of=${other}&of=${one}`);
    assert.equal(status, 200);
    const [, sideBySide = ''] = /Side by side([\s\S]*?)Choose again/.exec(text) ?? [];
    assert.deepEqual(linksTo(sideBySide, '/estimates/'), [`/estimates/${one}`, `/estimates/${other}`]);
    assert.doesNotMatch(text, /resnet18/);
    const unknown = await page(`/compare?of=${one}&of=x`);
    assert.equal(unknown.status, 404);
    assert.match(unknown.text, /the store has no such estimate/);
    const many = Array.from({ length: 11 }, (_, at) => `of=${one}&evaluation=id-${at}`).join('&');
    const refused = await page(`/compare?${many}`);
    assert.equal(refused.status, 400);
    assert.match(refused.text, /choose at most 20 to compare/);
  });
});

it('coverage is rounded down, to what was measured', () => {
  assert.deepEqual([0, 0.004, 0.29, 0.57, 0.58, 0.996, 1].map(coverageText), [
    ...['0 %', '0 %', '29 %', '57 %', '58 %', '99 %', '100 %'],
  ]);
});

describe('the pages of evaluations', { timeout: 60_000 }, () => {
  const estimating = scripted(async function* () {
    await Promise.resolve();
    yield { kind: 'note', level: 'info', message: 'the first' };
    yield { kind: 'estimate', model: 'resnet18', latencyMs: 10, lowMs: 9, highMs: 11, coverage: 1 };
    yield DONE;
  });

  it('show them with all events, compare their estimates, and keep the shown result', async (t) => {
    let shown = 0;
    const showResult = (plugin: string, json: Buffer) => {
      shown++;
      return Promise.resolve(plugin === 'fake' ? `<p>shown ${shown}: ${json.toString()}</p>` : undefined);
    };
    const { page, submit, follow, attach } = await siteWith(t, { http: { showResult } });
    await attach(estimating);
    const ids = ['evaluation-one', 'evaluation-two'];
    for (const id of ids) {
      await submit(id);
      await follow(id);
    }
    for (let times = 0; times < 2; times++) {
      const { text } = await page('/evaluations/evaluation-one');
      assert.match(text, /<title>tiny \(done\)<\/title>/);
      assert.match(text, /started by fake 1\.2\.3[\s\S]*the first[\s\S]*resnet18: 10\.00 ms[\s\S]*done</);
      assert.match(text, /<p>shown 1: \{"answer":42\}<\/p>/);
      assert.doesNotMatch(text, /class="problem">|<h2>Estimates/);
    }
    assert.match((await page('/evaluations/evaluation-two')).text, /<p>shown 2: /);
    const { text } = await page(`/compare?${ids.map((id) => `evaluation=${id}`).join('&')}&evaluation=${ids[0]}`);
    assert.deepEqual(
      linksTo(text, '/evaluations/'),
      ids.map((id) => `/evaluations/${id}`),
    );
    assert.match(text, /in tiny evaluati</);
    assert.match(text, /10\.00/);
    assert.equal((await page('/compare?evaluation=evaluation-six')).status, 404);
  });

  it('show the estimates where no plugin here understands the result, and the reason where it fails', async (t) => {
    let thrown: Error | undefined;
    const showResult = () => (thrown === undefined ? Promise.resolve(undefined) : Promise.reject(thrown));
    const { page, submit, follow, attach } = await siteWith(t, { http: { showResult } });
    await attach(estimating);
    await submit('an-evaluation');
    await follow('an-evaluation');
    const { text } = await page('/evaluations/an-evaluation');
    assert.match(text, /<h2>Estimates<\/h2>/);
    assert.doesNotMatch(text, /<p class="problem">/);
    thrown = new PlatformError('internal', 'the plugin failed');
    assert.match((await page('/evaluations/an-evaluation')).text, /<p class="problem">the plugin failed<\/p>/);
    thrown = new TypeError('a defect');
    assert.equal((await page('/evaluations/an-evaluation')).status, 500);
  });

  it('show what is measured now, from where the script goes on', async (t) => {
    const { page, submit, attach, server } = await siteWith(t);
    await attach(
      scripted(async function* (_request, context) {
        yield { kind: 'note', level: 'info', message: 'the first' };
        yield { kind: 'measuring', done: 3, total: 4, label: 'a brick' };
        await untilStopped(context);
      }),
    );
    await submit('an-evaluation');
    await until(async () => (await server.platform.get('an-evaluation')).last?.event.kind === 'measuring');
    const { text } = await page('/evaluations/an-evaluation');
    assert.match(text, /<title>tiny \(running\)<\/title>/);
    assert.match(text, /data-after="2"/);
    assert.match(text, /value="0\.75"[\s\S]*measuring 3 of 4: a brick/);
    assert.match(text, /the first/);
    assert.doesNotMatch(text, /<p class="problem">/);
    const front = await page('/');
    assert.match(front.text, /Evaluations now[\s\S]*href="\/evaluations\/an-evaluation"/);
  });

  it('list those of a state, or all', async (t) => {
    const { page, submit, follow, attach, server } = await siteWith(t);
    await attach(estimating);
    await submit('evaluation-done');
    await follow('evaluation-done');
    await attach({ ...patient, name: 'slow' });
    await until(() => server.platform.plugins().length === 2);
    await submit('evaluation-slow', { plugin: 'slow' });
    const listed = async (query: string) =>
      linksTo((await page(`/evaluations${query}`)).text, '/evaluations/').toSorted();
    const done = '/evaluations/evaluation-done';
    const slow = '/evaluations/evaluation-slow';
    for (const query of ['', '?state=']) assert.deepEqual(await listed(query), [done, slow]);
    assert.deepEqual(await listed('?state=done'), [done]);
    assert.deepEqual(await listed('?state=cancelled'), []);
    for (const [query, marked] of [
      ['', 'all'],
      ['?state=done', 'done'],
    ] as const)
      assert.match((await page(`/evaluations${query}`)).text, new RegExp(`aria-current="true">${marked}<`));
  });
});

describe('the pages of forms', { timeout: 60_000 }, () => {
  it('offer each attached plugin with the fields of its manifest, and the models of the zoo', async (t) => {
    const { page, attach, server } = await siteWith(t);
    assert.match((await page('/submit')).text, /No plugin is attached to this server/);
    await attach(patient);
    await attach({ ...patient, name: 'other' });
    await until(() => server.platform.plugins().length === 2);
    const { text } = await page('/submit');
    assert.match(text, /aria-current="true">fake 1\.2\.3<[\s\S]*>other 1\.2\.3</);
    for (const { name } of ZOO) assert.ok(text.includes(`<code>zoo:${name}</code>`));
    assert.match(text, /batch_size/);
    assert.match((await page('/submit?plugin=other')).text, /aria-current="true">other 1\.2\.3</);
  });

  it('offer the agents and their models for a prediction', async (t) => {
    const directory = directoryWith();
    const models = [ModelManifest.fromPartial({ name: 'relu', version: '1.0.0' })];
    directory.register(offer({ ...AGENT, models }));
    const { page } = await siteWith(t, { directory });
    const { text } = await page('/predict');
    assert.match(text, /<option value="relu">/);
    assert.match(text, /<option value="127\.0\.0\.1:7070">/);
    assert.match((await page('/agents')).text, /relu 1\.0\.0/);
  });

  it('come with their style and script, which browsers may keep', async (t) => {
    const { page } = await siteWith(t);
    const { text } = await page('/');
    for (const { path, type, text: content } of ASSETS) {
      assert.ok(text.includes(`"${path}"`));
      const { status, headers, text: served } = await page(path);
      assert.deepEqual([status, headers.get('content-type'), served], [200, type, content]);
      assert.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable');
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
    }
  });
});

describe('the login', { timeout: 60_000 }, () => {
  async function loggingIn(t: TestContext, options: SiteOptions = { token: TOKEN }) {
    const site = await siteWith(t, options);
    const post = (path: string, form: Readonly<Record<string, string>> = {}, headers = {}) =>
      fetch(`${site.url}${path}`, { method: 'POST', redirect: 'manual', body: new URLSearchParams(form), headers });
    const logIn = (token: string, query = '') => post(`/login${query}`, { token });
    return { ...site, post, logIn };
  }

  it('leads to the page that a visitor wanted, if it is one of this site', async (t) => {
    const { logIn, page } = await loggingIn(t);
    for (const [to, target] of [
      ['/submit?plugin=a', '/submit?plugin=a'],
      ['/', '/'],
      ['', '/'],
      ['//example.com', '/'],
      ['/\\example.com', '/'],
      ['https://example.com/', '/'],
      ['submit', '/'],
      ['x/submit', '/'],
      ['/a b', '/'],
      ['/a\nb', '/'],
    ] as const) {
      const { status, headers } = await logIn(TOKEN, `?to=${encodeURIComponent(to)}`);
      assert.deepEqual([status, headers.get('location')], [303, target], to);
      const { text } = await page(`/login?to=${encodeURIComponent(to)}`);
      assert.ok(text.includes(`action="/login?to=${encodeURIComponent(target).replaceAll('%20', '+')}"`), to);
    }
    assert.equal((await logIn(TOKEN)).headers.get('location'), '/');
  });

  it('takes a token with spaces around it, of at most 1024 characters', async (t) => {
    const find = (shown: string) => ({ name: 'anyone', role: 'read' as const, sha256: hashToken(shown) });
    const { logIn } = await loggingIn(t, { acceptedTokens: { find } });
    assert.equal((await logIn('x'.repeat(1024))).status, 303);
    const long = logIn('x'.repeat(1025));
    const spaced = logIn('  token\n');
    assert.deepEqual([(await long).status, (await spaced).status], [401, 303]);
  });

  it('shows who has logged in, and ends with the logout', async (t) => {
    const { page, logIn, post } = await loggingIn(t);
    assert.match((await page('/')).text, /<a href="\/login">Log in<\/a>/);
    const cookie = (await logIn(TOKEN)).headers.get('set-cookie')?.split(';')[0] ?? '';
    assert.match((await page('/', { cookie })).text, /<span class="quiet">token<\/span> <button>Log out</);
    const out = await post('/logout', {}, { cookie });
    assert.deepEqual([out.status, out.headers.get('location')], [303, '/login']);
    assert.match((await page('/', { cookie })).text, />Log in</);
    const { page: open } = await siteWith(t);
    assert.doesNotMatch((await open('/')).text, /Log in|Log out/);
  });

  it('answers eight wrong tokens at a time, each after a second, and lets right ones in meanwhile', async (t) => {
    const { logIn, post } = await loggingIn(t);
    const asked = Array.from({ length: 9 }, (_, at) => {
      return at === 0 ? post('/login?to=/agents') : logIn('wrong', '?to=/agents');
    });
    const refused = await Promise.race(asked);
    assert.equal(refused.status, 429);
    assert.match(await refused.text(), /Too many wrong tokens at the same time/);
    assert.equal((await logIn(TOKEN)).status, 303);
    const others = (await Promise.all(asked)).filter((answer) => answer !== refused);
    for (const answer of others) {
      assert.equal(answer.status, 401);
      assert.match(await answer.text(), /action="\/login\?to=%2Fagents"[\s\S]*The server does not accept this token\./);
    }
    assert.equal(others.length, 8);
    assert.equal((await logIn('wrong')).status, 401, 'there is room again');
  });
});
