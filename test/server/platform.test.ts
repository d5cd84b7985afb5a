import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { PlatformError } from '../../src/base/errors.js';
import type { EvaluationEvent, PlatformEvent } from '../../src/evaluation/event.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { assertRefused } from '../rpc/support/refusal.js';
import { until } from '../support/until.js';
import { full, never, withChanges } from './changing-store.js';
import { memoryLink } from './memory-link.js';
import { AGENT, eventsOf, openPlatform, submitted } from './fake-platform.js';
import { DONE, obedient, patient, scripted, untilStopped } from './scripted-evaluation.js';

/** Against hanging only, for all of a suite's tests together: each platform starts a thread. */
const deadline = { timeout: 300_000 };
const ID = 'evaluation-1';

const forever = new AbortController().signal;

async function fresh(t: TestContext, limits = {}) {
  const store = await openMemoryStore();
  const fake = await openPlatform({ store, limits });
  t.after(() => fake.platform.close());
  return { store, ...fake };
}

/** Asserts that a call ends before its client gives up, although the store is silent. */
const refusedInTime = (call: Promise<unknown>) =>
  assertRefused(call, 'timeout', /^the store of this server has not answered for 2 s; the server's messages/);

describe('a store that does not answer', deadline, () => {
  const limits = { answerMs: 2_000 };

  it('is named to the client that cancels, and the evaluation ends when it answers', async (t) => {
    let isAway = false;
    const store = withChanges(await openMemoryStore(), async (work) => {
      await until(() => !isAway);
      return work();
    });
    const { platform, attach } = await openPlatform({ store, limits });
    t.after(() => platform.close());
    attach(patient);
    await platform.submit(ID, submitted());
    await until(async () => (await platform.get(ID)).last?.event.kind === 'note');
    isAway = true;
    await refusedInTime(platform.cancel(ID));
    isAway = false;
    await until(async () => (await platform.get(ID)).record.state === 'cancelled');
  });

  it('is named to the client that asks for evaluations', async (t) => {
    const store = await openMemoryStore();
    const opened = store.collection.bind(store);
    const find = () => ({ [Symbol.asyncIterator]: () => ({ next: never }) });
    store.collection = (definition) => Object.assign(opened(definition), { find, get: never });
    const { platform } = await openPlatform({ store, limits });
    t.after(() => platform.close());
    await refusedInTime(platform.list());
    await refusedInTime(platform.get(ID));
  });
});

describe('an evaluation', deadline, () => {
  it('has events from its start to its result', async (t) => {
    const { platform, attach } = await fresh(t);
    const told: EvaluationEvent[] = [
      { kind: 'planned', summary: 'four layers', known: 1, toMeasure: 3 },
      { kind: 'note', level: 'warning', message: 'mind the gap' },
      { kind: 'estimate', model: 'four', latencyMs: 1.5, lowMs: 1, highMs: 2, coverage: 1 },
      DONE,
    ];
    attach(
      scripted(async function* () {
        yield* await Promise.resolve(told);
      }),
    );
    await platform.submit(ID, submitted());
    const { address: agent, framework, frameworkVersion } = AGENT;
    assert.deepEqual(await eventsOf(platform, ID), [
      { kind: 'started', plugin: 'fake', pluginVersion: '1.2.3', agent, framework, frameworkVersion, attempt: 1 },
      ...told.slice(0, -1),
      { kind: 'done', resultJson: '{"answer":42}', partial: false },
    ]);
    assert.equal((await platform.get(ID)).record.state, 'done');
  });

  it('gives its plugin the manifest, its settings and its models', async (t) => {
    const { platform, attach } = await fresh(t);
    attach(
      scripted(async function* ({ evaluation }, { agent }) {
        await Promise.resolve();
        const { manifest, models } = evaluation;
        const { framework } = agent.description;
        const layers = models.map(({ name, model }) => [name, model.graph.nodes.length]);
        yield { kind: 'done', partial: false, result: { name: manifest.name, layers, framework } };
      }),
    );
    await platform.submit(ID, submitted());
    const last = (await eventsOf(platform, ID)).at(-1);
    const resultJson = '{"name":"tiny","layers":[["four",4]],"framework":"fake"}';
    assert.deepEqual(last, { kind: 'done', partial: false, resultJson });
  });

  it('is the same if it is submitted again, and another evaluation needs another id', async (t) => {
    const { platform, attach } = await fresh(t);
    let runs = 0;
    attach(
      scripted(async function* () {
        runs++;
        yield await Promise.resolve(DONE);
      }),
    );
    await Promise.all([platform.submit(ID, submitted()), platform.submit(ID, submitted())]);
    await eventsOf(platform, ID);
    await platform.submit(ID, submitted());
    await assert.rejects(platform.submit(ID, submitted({ threads: 2 })), /another evaluation already/);
    assert.equal(runs, 1);
  });

  it('can be followed from any event on', async (t) => {
    const { platform, attach } = await fresh(t);
    attach(obedient);
    await platform.submit(ID, submitted());
    await eventsOf(platform, ID);
    const later: number[] = [];
    for await (const { sequence } of platform.follow(ID, 1, forever)) later.push(sequence);
    assert.deepEqual(later, [2]);
  });

  it('shows the progress of measuring to a follower who comes in the middle', async (t) => {
    const { platform, attach } = await fresh(t);
    attach(
      scripted(async function* (_request, context) {
        for (let done = 0; done < 5; done++) yield { kind: 'measuring', done, total: 9, label: `brick ${done}` };
        await untilStopped(context);
      }),
    );
    await platform.submit(ID, submitted());
    await until(async () => (await platform.get(ID)).last?.event.kind === 'measuring');
    await until(async () => JSON.stringify((await platform.get(ID)).last).includes('brick 4'));
    const follow = platform.follow(ID, 1, forever);
    const next = await follow.next();
    await follow.return(undefined);
    assert.ok(next.done === false);
    assert.deepEqual(next.value.event, { kind: 'measuring', done: 4, total: 9, label: 'brick 4' });
    assert.equal(next.value.sequence, 1);
  });

  it('that is cancelled is stopped', async (t) => {
    const { platform, attach } = await fresh(t);
    let stopped = false;
    attach(
      scripted(async function* (_request, context) {
        try {
          yield { kind: 'note', level: 'info', message: 'at work' };
          await untilStopped(context);
        } finally {
          stopped = true;
        }
      }),
    );
    await platform.submit(ID, submitted());
    await until(async () => (await platform.get(ID)).last?.event.kind === 'note');
    assert.equal((await platform.cancel(ID)).state, 'cancelled');
    assert.equal(stopped, true);
    assert.deepEqual((await eventsOf(platform, ID)).at(-1), { kind: 'cancelled' });
  });

  it('that is cancelled while it starts is stopped', async (t) => {
    const { platform, attach } = await fresh(t);
    let running = 0;
    attach(
      scripted(async function* (_request, context) {
        running++;
        try {
          yield { kind: 'note', level: 'info', message: 'at work' };
          await untilStopped(context);
        } finally {
          running--;
        }
      }),
    );
    for (let turns = 0; turns < 20; turns++) {
      const id = `evaluation-${turns}`;
      await platform.submit(id, submitted());
      for (let turn = 0; turn < turns; turn++) await setImmediate();
      assert.equal((await platform.cancel(id)).state, 'cancelled');
      assert.equal(running, 0, `after ${turns} turns of the event loop`);
    }
  });

  it('that waits for its plugin reports this at once, and its place in the queue whenever the place changes', async (t) => {
    const { platform, attach } = await fresh(t);
    const ends: (() => void)[] = [];
    attach(
      scripted(async function* () {
        await new Promise<void>((resolve) => ends.push(resolve));
        yield DONE;
      }),
    );
    const ids = ['evaluation-a', 'evaluation-b', 'evaluation-c'];
    for (const id of ids) await platform.submit(id, submitted());
    const place = (n: number) => `the plugin fake runs other evaluations; place ${n} in the queue`;
    const last = async (id: string): Promise<unknown> => (await platform.get(id)).last?.event;
    await until(async () => (await last('evaluation-c')) !== undefined);
    assert.deepEqual(await last('evaluation-b'), { kind: 'waiting', reason: place(1) });
    assert.deepEqual(await last('evaluation-c'), { kind: 'waiting', reason: place(2) });
    for (const n of ids.keys()) {
      await until(() => ends.length > n);
      ends[n]?.();
    }
    const kinds = (await eventsOf(platform, 'evaluation-c')).map((event) => {
      return event.kind === 'waiting' ? event.reason : event.kind;
    });
    assert.deepEqual(kinds, [place(2), place(1), 'started', 'done']);
    assert.deepEqual(
      (await eventsOf(platform, 'evaluation-a')).map(({ kind }) => kind),
      ['started', 'done'],
    );
  });

  it('fails when a plugin that is being started here does not attach in time', async (t) => {
    const limits = { waitForPluginMs: 300 };
    const { platform, attach } = await openPlatform({ store: await openMemoryStore(), ownPlugins: ['fake'], limits });
    t.after(() => platform.close());
    await platform.submit(ID, submitted());
    const last = (await eventsOf(platform, ID)).at(-1);
    assert.ok(last?.kind === 'failed' && last.code === 'unavailable');
    assert.match(last.message, /^the plugin fake, .* did not attach within .* the server's log/);
    await platform.submit('evaluation-2', submitted());
    attach(
      scripted(async function* () {
        await setTimeout(2 * limits.waitForPluginMs);
        yield DONE;
      }),
    );
    assert.equal((await eventsOf(platform, 'evaluation-2')).at(-1)?.kind, 'done');
  });

  it('waits for a plugin that is being started here', async (t) => {
    const store = await openMemoryStore();
    const { platform, attach } = await openPlatform({ store, ownPlugins: ['fake'] });
    t.after(() => platform.close());
    await platform.submit(ID, submitted());
    await until(async () => (await platform.get(ID)).last !== undefined);
    attach(obedient);
    const kinds = (await eventsOf(platform, ID)).map((event) => (event.kind === 'waiting' ? event.reason : event.kind));
    assert.deepEqual(kinds, ['the plugin fake is being started', 'started', 'done']);
  });

  it('that waits is cancelled when the store answers again that was gone beyond its limit', async (t) => {
    let isAway = false;
    const away = () => Promise.reject(new PlatformError('unavailable', 'the store has not answered for 90 s'));
    const store = withChanges(await openMemoryStore(), (work) => (isAway ? away() : work()));
    const { platform, attach } = await openPlatform({ store });
    t.after(() => platform.close());
    attach(patient);
    await platform.submit('evaluation-0', submitted());
    await platform.submit(ID, submitted());
    isAway = true;
    await assertRefused(platform.cancel(ID), 'unavailable', /has not answered for 90 s/);
    isAway = false;
    await until(async () => (await platform.get(ID)).record.state === 'cancelled');
  });

  it('that waits goes on waiting where the store refuses its end', async (t) => {
    let isFull = false;
    const store = withChanges(await openMemoryStore(), (work) => (isFull ? full() : work()));
    const { platform, attach } = await openPlatform({ store, ownPlugins: ['fake'] });
    t.after(() => platform.close());
    await platform.submit(ID, submitted());
    isFull = true;
    await assertRefused(platform.cancel(ID), 'storage', /the disk is full/);
    isFull = false;
    attach(obedient);
    assert.equal((await eventsOf(platform, ID)).at(-1)?.kind, 'done');
  });

  it('that waits can be cancelled as well', async (t) => {
    const { platform, attach } = await fresh(t);
    attach(patient);
    await platform.submit('evaluation-0', submitted());
    await platform.submit(ID, submitted());
    assert.equal((await platform.cancel(ID)).state, 'cancelled');
    assert.equal((await platform.get('evaluation-0')).record.state, 'running');
  });
});

describe('a submission is refused', deadline, () => {
  const refused = async (t: TestContext, changes: Record<string, unknown>): Promise<PlatformError> => {
    const { platform, attach } = await fresh(t);
    attach(obedient);
    const error: unknown = await platform.submit(ID, submitted(changes)).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof PlatformError, 'it was accepted');
    assert.deepEqual(await platform.list(), []);
    return error;
  };

  it('with every problem of its manifest and its place', async (t) => {
    const { code, message } = await refused(t, { models: ['five.onnx', 'zoo:resnet81'], threads: 0 });
    assert.equal(code, 'manifest');
    assert.match(message, /^tiny\.yml:1:\d+: models\[0\]: expected an ONNX file, found no such file in the submission/);
    assert.match(message, /models\[1\]: expected a model of the zoo .* \(did you mean "zoo:resnet18"\?\)/);
    assert.match(message, /threads: expected a whole number from 1 to 1024, found the number 0/);
  });

  it('if it names files of the server', async (t) => {
    const { message } = await refused(t, {
      models: [import.meta.filename.replace(/\.js$/, '.onnx')],
      hardware: '/etc/x.yml',
    });
    assert.match(message, /hardware: expected a hardware manifest, found no such file in the submission/);
  });

  it('if its plugin is not attached', async (t) => {
    const { code, message } = await refused(t, { plugin: 'other' });
    assert.equal(code, 'unavailable');
    assert.match(message, /the plugin other is not attached to this server, attached are fake; start it with/);
  });

  it('if its plugin is misspelt, with the correct name', async (t) => {
    const { code, message } = await refused(t, { plugin: 'fkae' });
    assert.equal(code, 'unavailable');
    assert.match(message, /the plugin fkae is not attached to this server, attached are fake; did you mean fake\?$/);
  });

  it('if no agent fits, with the reason for each agent', async (t) => {
    const { code, message } = await refused(t, { hardware: { cores: { min: 64 } } });
    assert.equal(code, 'unsupported');
    assert.match(message, /127\.0\.0\.1:7070: hardware: expected at least 64 cores, found 4/);
  });
});

describe('a plugin that', deadline, () => {
  /** The last event of an evaluation that the plugin runs, while another plugin of the same server does its work. */
  async function endWith(
    t: TestContext,
    run: Parameters<typeof scripted>[0],
    limits = {},
  ): Promise<PlatformEvent | undefined> {
    const { platform, attach } = await fresh(t, limits);
    attach({ ...scripted(run), name: 'bad' });
    attach(obedient);
    await platform.submit('evaluation-bad', submitted({ plugin: 'bad' }));
    await platform.submit('evaluation-good', submitted());
    assert.equal((await eventsOf(platform, 'evaluation-good')).at(-1)?.kind, 'done');
    return (await eventsOf(platform, 'evaluation-bad')).at(-1);
  }

  it('throws fails its own evaluation', async (t) => {
    const last = await endWith(t, () => {
      throw new TypeError('undefined is not a plugin');
    });
    assert.ok(last?.kind === 'failed' && last.code === 'internal');
    const lines = last.message.split('\n');
    assert.deepEqual(lines.slice(0, 2), [
      'the plugin bad failed; report this to its author:',
      'TypeError: undefined is not a plugin',
    ]);
    assert.match(lines[2] ?? '', /platform\.test\.js:\d+/);
  });

  it('hangs fails its own evaluation', async (t) => {
    const hang = (): AsyncIterable<never> => ({
      [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }),
    });
    const last = await endWith(t, hang, { silenceMs: 100 });
    assert.ok(last?.kind === 'failed' && last.code === 'timeout');
    assert.match(last.message, /the plugin bad has sent no event/);
  });

  it('sends too many events fails its own evaluation', async (t) => {
    const last = await endWith(t, async function* () {
      for (;;) yield await Promise.resolve({ kind: 'note', level: 'info', message: 'again' } as const);
    });
    assert.ok(last?.kind === 'failed' && last.code === 'exhausted');
    assert.match(last.message, /more than 10000 events/);
  });

  it('ends without a result fails its own evaluation', async (t) => {
    const last = await endWith(t, async function* () {
      yield await Promise.resolve({ kind: 'note', level: 'info', message: 'that was it' } as const);
    });
    assert.ok(last?.kind === 'failed' && last.message.includes('ended without a result'));
  });

  it('sends an invalid event fails its own evaluation', async (t) => {
    const last = await endWith(t, async function* () {
      yield await Promise.resolve({ kind: 'estimate', model: 'four', coverage: 7 } as const);
    });
    assert.ok(last?.kind === 'failed');
    assert.match(last.message, /the plugin bad sent an invalid event: coverage/);
  });

  for (const event of [{ kind: 'cancelled' }, { kind: 'failed', code: 'usage', message: 'no' }]) {
    it(`says itself that its evaluation is ${event.kind} fails its own evaluation`, async (t) => {
      const last = await endWith(t, async function* () {
        yield await Promise.resolve(event as unknown as EvaluationEvent);
      });
      assert.ok(last?.kind === 'failed' && last.code === 'internal');
      assert.match(last.message, new RegExp(`the plugin bad sent an invalid event: kind: ${event.kind} is`));
    });
  }

  it('does not stop when its evaluation is cancelled is left behind', async (t) => {
    const { platform, attach } = await fresh(t, { stopMs: 50 });
    attach(
      scripted(async function* () {
        yield { kind: 'note', level: 'info', message: 'I stay' };
        await new Promise(() => {});
      }),
    );
    await platform.submit(ID, submitted());
    await until(async () => (await platform.get(ID)).last?.event.kind === 'note');
    assert.equal((await platform.cancel(ID)).state, 'cancelled');
  });

  it('goes away is waited for, and its evaluation is run again', async (t) => {
    const { platform, attach } = await fresh(t);
    const detach = attach(patient);
    await platform.submit(ID, submitted());
    await until(async () => (await platform.get(ID)).last?.event.kind === 'note');
    detach();
    await until(async () => (await platform.get(ID)).record.state === 'queued');
    attach(obedient);
    const events = await eventsOf(platform, ID);
    assert.deepEqual(
      events.map((event) => (event.kind === 'started' ? event.attempt : event.kind)),
      [1, 'note', 'waiting', 2, 'done'],
    );
  });

  it('goes away again and again fails the evaluation', async (t) => {
    const { platform, attach } = await fresh(t);
    let detach = (): void => {};
    const fatal = scripted(async function* () {
      yield await Promise.resolve({ kind: 'note', level: 'info', message: 'crash' } as const);
      detach();
      await new Promise(() => {});
    });
    detach = attach(fatal);
    await until(() => platform.plugins().length === 1);
    await platform.submit(ID, submitted());
    await until(async () => {
      if (platform.plugins().length === 0) detach = attach(fatal);
      return (await platform.get(ID)).record.state === 'failed';
    });
    const last = (await eventsOf(platform, ID)).at(-1);
    assert.ok(last?.kind === 'failed');
    assert.match(last.message, /the plugin fake went away 3 times/);
  });

  it('describes its settings by a schema, by which they are checked when they are submitted', async (t) => {
    const { platform, attach } = await fresh(t);
    attach(scripted(() => assert.fail(), z.strictObject({ deep: z.int().min(1) })));
    const refused = (changes: Readonly<Record<string, unknown>>, message: RegExp): Promise<void> =>
      assertRefused(platform.submit(ID, submitted(changes)), 'manifest', message);
    const settings = { deep: 0, depth: 3 };
    await refused({ settings }, /^tiny\.yml:1:\d+: settings\.deep: expected .*, found the number 0\n/);
    await refused({ settings }, /settings\.depth: expected .*, found the unknown key "depth"/);
    await refused({ matrix: { threads: [1] } }, /^tiny\.yml:1:\d+: matrix: expected no matrix, which this plugin/);
    await assertRefused(platform.get(ID), 'not_found', /evaluation-1/);
  });

  it('says when the run begins what no schema can say, with the place', async (t) => {
    const { platform, attach } = await fresh(t);
    const even = z.int().refine((value) => value % 2 === 0, 'an even number');
    attach(scripted(() => assert.fail(), z.strictObject({ deep: even })));
    await platform.submit(ID, submitted({ settings: { deep: 3 } }));
    const last = (await eventsOf(platform, ID)).at(-1);
    assert.ok(last?.kind === 'failed' && last.code === 'manifest');
    assert.match(last.message, /^tiny\.yml:1:\d+: settings\.deep: expected an even number, found the number 3/);
  });

  it('checks its settings itself while another version of it has others', async (t) => {
    const { platform, attach } = await fresh(t);
    for (const key of ['deep', 'deeper']) attach(scripted(() => assert.fail(), z.strictObject({ [key]: z.int() })));
    await until(() => platform.plugins().length === 2);
    await platform.submit(ID, submitted({ settings: { depth: 3 } }));
    assert.equal((await eventsOf(platform, ID)).at(-1)?.kind, 'failed');
  });
});

describe('plugins', deadline, () => {
  it('are limited in number, including those that have not registered yet', async (t) => {
    const { platform, attach } = await fresh(t);
    const links = Array.from({ length: 256 }, () => memoryLink());
    const attached = links.map((link) => platform.attach(link.platform));
    await assertRefused(platform.attach(memoryLink().platform), 'exhausted', /256 plugins are attached already/);
    for (const link of links) link.plugin.close();
    await Promise.allSettled(attached);
    attach(obedient);
    await until(() => platform.plugins().length === 1);
  });
});
