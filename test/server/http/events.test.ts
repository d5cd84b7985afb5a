import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { until } from '../../support/until.js';
import { patient, scripted, untilStopped } from '../scripted-evaluation.js';
import { siteServing } from '../site-server.js';

const ID = 'an-evaluation';
const MANIFEST = { dlspec: 'evaluation/v1', name: 'tiny', version: '1.0.0', plugin: 'fake', models: ['zoo:resnet18'] };

interface Message {
  readonly id: string | undefined;
  readonly data: Record<string, unknown>;
}

/** The messages of a stream, which begins with the time after which a client connects again. */
function messagesIn(text: string): readonly Message[] {
  const [first, ...blocks] = text.split('\n\n');
  assert.equal(first, 'retry: 3000');
  assert.equal(blocks.pop(), '');
  return blocks.map((block) => {
    const lines = new Map(block.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string]));
    assert.equal(lines.get('event'), 'evaluation');
    return { id: lines.get('id'), data: JSON.parse(lines.get('data') ?? '') as Record<string, unknown> };
  });
}

async function streaming(t: TestContext) {
  const site = await siteServing(t);
  const address = `${site.url}/api/v1/evaluations/${ID}/events`;
  const submit = async (id = ID): Promise<void> => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ id, manifest: MANIFEST });
    assert.equal((await fetch(`${site.url}/api/v1/evaluations`, { method: 'POST', headers, body })).status, 200);
  };
  const followers = async (): Promise<number> => {
    const text = await (await fetch(`${site.url}/metrics`)).text();
    return Number(/^mlmodelscope_followers (\d+)$/m.exec(text)?.[1]);
  };
  return { ...site, address, submit, followers };
}

describe('the events of an evaluation over HTTP', { timeout: 60_000 }, () => {
  it('have numbers, texts and states for a page, and end with the evaluation', async (t) => {
    const { address, submit, attach, server } = await streaming(t);
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    await attach(
      scripted(async function* () {
        yield { kind: 'measuring', done: 0, total: 0, label: 'models' };
        yield { kind: 'measuring', done: 1, total: 4, label: 'brick' };
        await released;
        yield { kind: 'note', level: 'warning', message: 'mind the gap' };
        yield { kind: 'done', result: { answer: 42 }, partial: true };
      }),
    );
    await submit();
    await until(async () => JSON.stringify((await server.platform.get(ID)).last).includes('brick'));
    const answer = await fetch(address);
    assert.equal(answer.headers.get('x-accel-buffering'), 'no');
    setTimeout(release, 10);
    const messages = messagesIn(await answer.text());
    for (const { data } of messages) assert.equal(new Date(String(data['at'])).toISOString(), data['at']);
    assert.deepEqual(
      messages.map(({ id, data: { event, text, progress, state, final } }) => {
        return [id, (event as { kind: string }).kind, text, progress, state, final];
      }),
      [
        ['1', 'started', 'started by fake 1.2.3 on 127.0.0.1:7070', undefined, 'running', false],
        [undefined, 'measuring', undefined, { text: 'measuring 1 of 4: brick', share: 0.25 }, undefined, false],
        ['2', 'note', 'warning: mind the gap', undefined, undefined, false],
        ['3', 'done', 'done; a part of the result is missing', undefined, undefined, true],
      ],
    );
    for (const after of [0, 1, 2]) {
      const ids = messagesIn(await (await fetch(`${address}?after=${after}`)).text()).map(({ id }) => Number(id));
      assert.deepEqual(ids, [1, 2, 3].slice(after));
    }
    for (const after of [3, 4]) {
      const { status } = await fetch(`${address}?after=${after}`);
      assert.equal(status, 204, 'or a browser would connect again and again');
    }
  });

  it('tell the state of one that waits, and progress without a count', async (t) => {
    const { address, submit, attach, server } = await streaming(t);
    await attach(
      scripted(async function* (_request, context) {
        yield { kind: 'measuring', done: 0, total: 0, label: 'models' };
        await untilStopped(context);
      }),
    );
    await submit('before-it');
    await submit();
    await until(async () => (await server.platform.get(ID)).last !== undefined);
    await server.platform.cancel('before-it');
    await until(async () => (await server.platform.get(ID)).last?.event.kind === 'measuring');
    await server.platform.cancel(ID);
    const told = messagesIn(await (await fetch(address)).text()).map(({ data: { text, state } }) => [text, state]);
    assert.deepEqual(told, [
      ['waiting: the plugin fake runs other evaluations; place 1 in the queue', 'queued'],
      ['started by fake 1.2.3 on 127.0.0.1:7070', 'running'],
      ['cancelled', undefined],
    ]);
    const before = address.replace(ID, 'before-it');
    assert.deepEqual(messagesIn(await (await fetch(before)).text()).at(-1)?.data['text'], 'cancelled');
  });

  it('are told to those who are there, whom the metrics count', async (t) => {
    const { url, submit, attach, followers, server } = await streaming(t);
    await attach(
      scripted(async function* (_request, context) {
        yield { kind: 'measuring', done: 0, total: 0, label: 'models' };
        await untilStopped(context);
      }),
    );
    await submit();
    await until(async () => (await server.platform.get(ID)).last?.event.kind === 'measuring');
    const leaving = new AbortController();
    const stream = (await fetch(`${url}/api/v1/evaluations/${ID}/events?after=1`, { signal: leaving.signal })).body;
    let text = '';
    for await (const chunk of (stream ?? assert.fail()).pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (text.endsWith('}\n\n')) break;
    }
    leaving.abort();
    const [progress] = messagesIn(text);
    assert.deepEqual([progress?.id, progress?.data['progress']], [undefined, { text: 'models', share: 0 }]);
    await until(async () => (await followers()) === 0);
    const agents = Array.from({ length: 3 }, () => new http.Agent());
    const requests = agents.map((agent) => http.get(`${url}/api/v1/evaluations/${ID}/events`, { agent }));
    for (const request of requests) {
      const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
      answer.resume().on('error', () => {});
    }
    assert.equal(await followers(), 3);
    requests[0]?.destroy();
    await until(async () => (await followers()) === 2);
    const ended = requests.slice(1).map((request) => once(request, 'close'));
    await server.platform.cancel(ID);
    await Promise.all(ended);
    await until(async () => (await followers()) === 0);
  });

  it('end when the server closes', async (t) => {
    const { address, submit, attach, server } = await streaming(t);
    await attach(patient);
    await submit();
    await until(async () => (await server.platform.get(ID)).last?.event.kind === 'note');
    const answer = await fetch(address);
    const reading = answer.text().catch(() => 'cut');
    await server.close();
    await reading;
  });

  it('are not found for an unknown evaluation', async (t) => {
    const { address, followers } = await streaming(t);
    const { status } = await fetch(address);
    assert.deepEqual([status, await followers()], [404, 0]);
  });
});
