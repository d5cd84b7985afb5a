import { status } from '@grpc/grpc-js';
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PlatformError } from '../../src/base/errors.js';
import { connectEvaluations } from '../../src/evaluation/client/evaluation-client.js';
import type { PlatformEvent } from '../../src/evaluation/event.js';
import { evaluationCollections } from '../../src/evaluation/records.js';
import {
  EvaluationServiceService,
  FollowEvaluationRequest,
  SubmitEvaluationRequest,
} from '../../src/generated/mlmodelscope/evaluation/v1/evaluation_service.js';
import { createRpcClient } from '../../src/rpc/client.js';
import type { CollectionDefinition } from '../../src/store/collection.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import type { ResultStore } from '../../src/store/result-store.js';
import { forked, handMadeClient, messagePrefix } from '../rpc/support/hostile.js';
import { assertRefused } from '../rpc/support/refusal.js';
import { openPlatform, submission, submitted } from './fake-platform.js';
import { obedient, scripted } from './scripted-evaluation.js';
import type { ServerProcessOptions } from './server-process.js';
import { serving } from './serving.js';

const MIB = 2 ** 20;
const ID = 'evaluation-1';
const deadline = { timeout: 300_000 };

const { followEvaluation, getEvaluation, listEvaluations, submitEvaluation } = EvaluationServiceService;

/** Each reader has its own. */
const ownSignal = (): AbortSignal => new AbortController().signal;

async function lastEvent(events: AsyncIterable<{ readonly event: PlatformEvent }>): Promise<PlatformEvent | undefined> {
  let last: PlatformEvent | undefined;
  for await (const { event } of events) last = event;
  return last;
}

function framed(message: Uint8Array): Buffer {
  return Buffer.concat([messagePrefix(message.length), message]);
}

describe('a server in a process of its own', deadline, () => {
  const start = (t: TestContext, options: Omit<ServerProcessOptions, 'evaluation'>) => {
    const script = fileURLToPath(new URL('server-process.js', import.meta.url));
    return forked(t, script, { evaluation: ID, ...options });
  };

  it('allows 300 readers of a result of 11.5 MB that never read, and still gives it to one that reads', async (t) => {
    const { address, peakBytes } = await start(t, { resultCharacters: 11_500_000, limits: {} });
    const before = await peakBytes();
    const request = { evaluationId: ID, afterSequence: 0n, resultInParts: false };
    const [whole, inParts] = [request, { ...request, resultInParts: true }].map((asked) =>
      framed(FollowEvaluationRequest.encode(asked).finish()),
    );
    for (let client = 0; client < 10; client++) {
      const { call } = handMadeClient(t, address, { reads: false });
      for (let i = 0; i < 30; i++) call(followEvaluation.path).end(client < 7 ? whole : inParts);
    }
    const client = connectEvaluations(address);
    t.after(() => client.close());
    const last = await lastEvent(client.follow(ID, 0));

    assert.ok(last?.kind === 'done' && last.resultJson?.length === 11_500_002);
    // Eight readers at a time have the whole result, encoded and framed; the others have a part of 128 KiB, or wait.
    const taken = (await peakBytes()) - before;
    assert.ok(taken < 400 * MIB, `${taken / MIB} MiB`);
  });

  it('answers others while one connection asks 90 times for a result of 11.5 MB, and gives it each time', async (t) => {
    const { address, peakBytes } = await start(t, { resultCharacters: 11_500_000, limits: {} });
    const before = await peakBytes();
    const [greedy, other] = [0, 1].map(() => {
      const client = createRpcClient(address, 'server');
      t.after(() => client.close());
      return client;
    });
    assert.ok(greedy !== undefined && other !== undefined);
    // Decoding 90 of them would keep this process busy.
    const inBytes = { ...getEvaluation, responseDeserialize: (bytes: Buffer) => bytes.length };
    const request = { evaluationId: ID, withoutResult: false };
    let read = 0;
    const asked = Array.from({ length: 90 }, async () => {
      assert.ok((await greedy.unary(inBytes, request, { deadlineMs: 120_000 })) > 11_500_000);
      read++;
    });
    await Promise.race(asked);
    for (let i = 0; i < 20; i++) await other.unary(listEvaluations, { pageSize: 0 }, { deadlineMs: 120_000 });
    const meanwhile = read;
    await Promise.all(asked);
    assert.ok(meanwhile < 60, `${meanwhile} of 90 results came before 20 short answers`);
    // All of them share one encoding.
    const taken = (await peakBytes()) - before;
    assert.ok(taken < 200 * MIB, `${taken / MIB} MiB`);
  });

  it('refuses a submission of 60 MiB with 31 million empty graphs in the memory of its bytes', async (t) => {
    const { address, peakBytes } = await start(t, { resultCharacters: 0, limits: {} });
    const before = await peakBytes();
    const empty = SubmitEvaluationRequest.encode({
      evaluationId: ID,
      submission: { manifestPath: '', files: [], graphs: [], unusable: [], allowVersion: false, agents: undefined },
    }).finish();
    // In place of the empty submission at its end, one with graphs (field 3) of no bytes.
    const graphs = Buffer.alloc(60 * MIB, Uint8Array.of(0x1a, 0x00));
    const length = Buffer.from([0x80, 0x80, 0x80, 0x1e]);
    const stream = handMadeClient(t, address).call(submitEvaluation.path);
    stream.end(framed(Buffer.concat([empty.subarray(0, -1), length, graphs])));
    const { grpcStatus, message } = await stream.ended;

    assert.equal(grpcStatus, status.INVALID_ARGUMENT);
    assert.match(message, /more than the limit of 524288 values/);
    const taken = (await peakBytes()) - before;
    assert.ok(taken < 300 * MIB, `${taken / MIB} MiB`);
  });
});

/** The result that GetEvaluation returns to clients that do not ask for parts; undefined if it is withheld. */
async function wholeResult(t: TestContext, address: string, token: string | undefined): Promise<string | undefined> {
  const client = createRpcClient(address, 'server', { security: { token } });
  t.after(() => client.close());
  const request = { evaluationId: ID, withoutResult: false };
  const { lastEvent } = await client.unary(getEvaluation, request, { deadlineMs: 10_000 });
  const event = lastEvent?.event;
  assert.ok(event?.$case === 'done');
  assert.equal(event.value.resultWithheld, event.value.resultJson === '');
  return event.value.resultWithheld ? undefined : event.value.resultJson;
}

/** Tries until the server has room. */
async function untilTaken<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof PlatformError) || error.code !== 'exhausted') throw error;
    }
  }
}

describe('a reader', deadline, () => {
  it('without the token sees everything except the result', async (t) => {
    const token = 'a-token-that-nobody-guesses';
    const { client, attach, connect, address } = await serving(t, { token });
    await attach(obedient);
    await client.submit(ID, submission());
    const withIt = await lastEvent(client.follow(ID, 0));
    assert.deepEqual(withIt, { kind: 'done', resultJson: '{"answer":42}', partial: false });
    assert.deepEqual(await wholeResult(t, address, token), '{"answer":42}');

    for (const stranger of [connect(undefined), connect('another-token-that-is-long')]) {
      assert.deepEqual(await lastEvent(stranger.follow(ID, 0)), { kind: 'done', partial: false });
    }
    assert.equal(await wholeResult(t, address, undefined), undefined);
  });

  it('follows no more evaluations on one connection than the limit', async (t) => {
    const { client, attach } = await serving(t);
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    await attach({
      ...obedient,
      async *run(...context) {
        await ended;
        yield* obedient.run(...context);
      },
    });
    await client.submit(ID, submission());
    const followed = Array.from({ length: 32 }, () => client.follow(ID, 0)[Symbol.asyncIterator]());
    await Promise.all(followed.map((events) => events.next()));
    await assertRefused(lastEvent(client.follow(ID, 0)), 'exhausted', /follows 32 evaluations already/);
    await followed[0]?.return?.();
    end();
    const last = await untilTaken(() => lastEvent(client.follow(ID, 0)));
    assert.equal(last?.kind, 'done');
  });
});

/** A store that counts how often its collections are searched, and events are read. */
function counting(store: ResultStore) {
  let finds = 0;
  let events = 0;
  const counted: ResultStore = Object.create(store, {
    collection: {
      value: <Document extends object>(definition: CollectionDefinition<Document>) => {
        const collection = store.collection(definition);
        const find = collection.find.bind(collection);
        collection.find = (match) => {
          finds++;
          return find(match);
        };
        const get = collection.get.bind(collection);
        collection.get = (key) => {
          if (definition.name === 'evaluation_events') events++;
          return get(key);
        };
        return collection;
      },
    },
  }) as ResultStore;
  return { store: counted, finds: () => finds, events: () => events };
}

async function recordsIn(store: ResultStore, count: number): Promise<void> {
  const { records } = evaluationCollections(store);
  const at = (index: number): string => new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString();
  for (let index = 0; index < count; index++) {
    const id = `evaluation-${String(index).padStart(5, '0')}`;
    await records.put({
      ...{ id, name: 'x', plugin: 'fake', state: 'done', digest: '', attempts: 1, traceContext: {} },
      ...{ submittedAt: at(index), changedAt: at(index) },
    });
  }
}

it('a reader gets a result whose parts end between characters that take two code units', deadline, async (t) => {
  const { client, attach } = await serving(t);
  const result = '\u{1f41f}'.repeat(200_000);
  await attach(
    scripted(async function* () {
      yield await Promise.resolve({ kind: 'done', result, partial: false });
    }),
  );
  await client.submit(ID, submission());
  const last = await lastEvent(client.follow(ID, 0));
  assert.ok(last?.kind === 'done' && last.resultJson === JSON.stringify(result));
});

describe('several readers at the same time', deadline, () => {
  it('cause only one read of an ended evaluation from the store', async (t) => {
    const { store, finds } = counting(await openMemoryStore());
    const { platform, attach } = await openPlatform({ store });
    t.after(() => platform.close());
    attach(obedient);
    await platform.submit(ID, submitted());
    assert.equal((await lastEvent(platform.follow(ID, 0, ownSignal())))?.kind, 'done');
    const again = await openPlatform({ store });
    t.after(() => again.platform.close());
    const before = finds();
    const read = () => lastEvent(again.platform.follow(ID, 0, ownSignal()));
    const last = await Promise.all(Array.from({ length: 20 }, read));
    assert.deepEqual(last, new Array(20).fill({ kind: 'done', partial: false }));
    assert.equal(finds() - before, 1);
  });

  it('cause only one read of a result from the store, and none of its evaluation later', async (t) => {
    const { store, finds, events } = counting(await openMemoryStore());
    const { platform, attach } = await openPlatform({ store });
    t.after(() => platform.close());
    attach(obedient);
    await platform.submit(ID, submitted());
    await lastEvent(platform.follow(ID, 0, ownSignal()));
    const again = await openPlatform({ store });
    t.after(() => again.platform.close());
    const read = async (): Promise<string | undefined> => {
      const signal = ownSignal();
      const { last } = await again.platform.get(ID, signal);
      assert.ok(last !== undefined);
      const { json, close } = await again.platform.openResult(ID, last, { signal });
      close();
      return json?.toString();
    };
    const results = await Promise.all(Array.from({ length: 20 }, read));
    assert.deepEqual(results, new Array(20).fill('{"answer":42}'));
    const before = { finds: finds(), events: events() };
    assert.equal(await read(), '{"answer":42}');
    assert.deepEqual({ finds: finds(), events: events() }, before);
    assert.equal(before.events, 1);
  });

  it('cause only one listing of the evaluations, with the newest only', async (t) => {
    const { store, finds } = counting(await openMemoryStore());
    await recordsIn(store, 3100);
    const { platform } = await openPlatform({ store });
    t.after(() => platform.close());
    const lists = await Promise.all(Array.from({ length: 20 }, () => platform.list()));
    assert.equal(finds(), 1);
    const [list = []] = lists;
    assert.deepEqual([list.length, list[0]?.id, list.at(-1)?.id], [1000, 'evaluation-03099', 'evaluation-02100']);
  });
});
