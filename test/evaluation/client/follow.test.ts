import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { connectEvaluations } from '../../../src/evaluation/client/evaluation-client.js';
import type { LoggedEvent } from '../../../src/evaluation/event.js';
import type { Evaluation } from '../../../src/evaluation/evaluation.js';
import { attachPlugin } from '../../../src/evaluation/run/attach-plugin.js';
import { startServer } from '../../../src/server/server.js';
import { openMemoryStore } from '../../../src/store/memory/open.js';
import type { ResultStore } from '../../../src/store/result-store.js';
import { FakeClock } from '../../base/fake-clock.js';
import { assertRefused } from '../../rpc/support/refusal.js';
import { AGENT, directoryWith, fakeAgent, LOADER, submission } from '../../server/fake-platform.js';
import { freePort } from '../../support/free-port.js';
import { obedient, scripted, untilStopped } from '../../server/scripted-evaluation.js';

const ID = 'evaluation-1';
const MINUTE_MS = 60_000;

/** Sends one event, then nothing until it is stopped. */
const silent = scripted(async function* (_request, context) {
  yield { kind: 'note', level: 'info', message: 'measuring' };
  await untilStopped(context);
});

/** A server with one plugin. */
async function serve(t: TestContext, store: ResultStore, evaluation: Evaluation, port = 0) {
  const directory = directoryWith(AGENT.address);
  const server = await startServer({ listen: { host: '127.0.0.1', port }, store, directory, loader: LOADER });
  const stop = new AbortController();
  const close = async (): Promise<void> => {
    stop.abort();
    await server.close();
  };
  t.after(close);
  void attachPlugin(
    evaluation,
    server.address,
    { store, connect: () => Promise.resolve(fakeAgent()) },
    { signal: stop.signal },
  );
  while (server.platform.plugins().length === 0) await setTimeout(10);
  return { address: server.address, close };
}

/** Follows an evaluation until the server stops, after a long time without events. */
async function followIntoOutage(t: TestContext) {
  const store = await openMemoryStore();
  const { address, close } = await serve(t, store, silent, await freePort());
  const clock = new FakeClock();
  const client = connectEvaluations(address, { clock });
  t.after(() => client.close());
  await client.submit(ID, submission());
  const events = client.follow(ID, 0)[Symbol.asyncIterator]();
  const seen: string[] = [];
  while (seen.at(-1) !== 'note') seen.push(((await events.next()).value as LoggedEvent).event.kind);
  const next = events.next();
  next.catch(() => undefined);
  await clock.advance(10 * MINUTE_MS);
  await close();
  return { store, address, clock, events, next };
}

/** Advances the clock in large steps until a promise is settled; an attempt to connect takes real time. */
async function pass(clock: FakeClock, until: Promise<unknown>): Promise<void> {
  let isSettled = false;
  until.then(
    () => (isSettled = true),
    () => (isSettled = true),
  );
  while (!isSettled) {
    await setTimeout(10);
    if (clock.sleeping > 0) await clock.advance(MINUTE_MS / 4);
  }
}

describe('following an evaluation', { timeout: 60_000 }, () => {
  it('continues with a server that is restarted, also after a long time without events', async (t) => {
    const { store, address, clock, events, next } = await followIntoOutage(t);
    while (clock.sleeping === 0) await setTimeout(10);
    await serve(t, store, obedient, Number(address.split(':').at(-1)));
    await pass(clock, next);
    const kinds = [((await next).value as LoggedEvent).event.kind];
    for (let event = await events.next(); event.done !== true; event = await events.next()) {
      kinds.push(event.value.event.kind);
    }
    assert.deepEqual(kinds, ['waiting', 'started', 'done']);
  });

  it('gives up when the server does not answer for more than a minute, and says how to follow it again', async (t) => {
    const { address, clock, next } = await followIntoOutage(t);
    const goneMs = clock.now();
    await pass(clock, next);
    await assertRefused(next, 'unavailable', new RegExp(`evaluations follow ${ID} --server ${address}`));
    const waitedMs = clock.now() - goneMs;
    assert(waitedMs >= MINUTE_MS && waitedMs < 2 * MINUTE_MS, `waited ${waitedMs} ms`);
  });
});
