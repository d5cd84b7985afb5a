import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { collect } from '../../src/base/collect.js';
import { PlatformError } from '../../src/base/errors.js';
import { evaluationCollections } from '../../src/evaluation/records.js';
import { EvaluationServiceService } from '../../src/generated/mlmodelscope/evaluation/v1/evaluation_service.js';
import {
  AttachRequest,
  type AttachResponse,
  PluginServiceService,
} from '../../src/generated/mlmodelscope/evaluation/v1/plugin_service.js';
import { modelsWithExternalTensor } from '../onnx/external-places.js';
import { createRpcClient } from '../../src/rpc/client.js';
import { handMadeClient, messagePrefix } from '../rpc/support/hostile.js';
import { until } from '../support/until.js';
import { submission } from './fake-platform.js';
import { DONE, obedient, patient, scripted } from './scripted-evaluation.js';
import { serving } from './serving.js';

const deadline = { timeout: 60_000 };
const ID = 'evaluation-1';

/**
 * Writes messages as a plugin that this project did not write.
 *
 * @returns the error with which the server ends the stream
 */
async function answerTo(
  t: TestContext,
  address: string,
  requests: readonly AttachRequest[],
  { ends = false } = {},
): Promise<PlatformError> {
  const client = createRpcClient(address, 'server');
  t.after(() => client.close());
  const call = client.duplex(PluginServiceService.attach, { deadlineMs: 30_000 });
  for (const request of requests) call.write(request);
  if (ends) call.end();
  try {
    await call.toArray();
  } catch (error) {
    return client.failure(error);
  }
  return assert.fail('the stream ended without an error');
}

const registration = (changes = {}): AttachRequest => {
  const value = { name: 'raw', version: '1.0.0', manifestSchemaJson: '{}', slots: 1, ...changes };
  return { message: { $case: 'registration', value } };
};

describe('the evaluation service', deadline, () => {
  it('accepts, shows, lists and returns an evaluation of a plugin in another process', async (t) => {
    const { client, attach } = await serving(t);
    await attach(obedient);
    assert.equal((await client.submit(ID, submission())).state, 'queued');
    const kinds = (await collect(client.follow(ID, 0))).map(({ event }) => event.kind);
    assert.deepEqual(kinds, ['started', 'done']);
    const { evaluation, last } = await client.get(ID);
    assert.deepEqual([evaluation.state, last?.event], ['done', { kind: 'done', partial: false }]);
    assert.deepEqual(
      (await client.list(10)).map(({ id, name, plugin }) => [id, name, plugin]),
      [[ID, 'tiny', 'fake']],
    );
    const [plugin] = await client.plugins();
    assert.equal((JSON.parse(plugin?.manifestSchemaJson ?? '') as { type: string }).type, 'object');
  });

  it('continues without a model that cannot be read, reports the reason, and gives it to the plugin', async (t) => {
    const { client, attach } = await serving(t);
    await attach(
      scripted(async function* ({ evaluation: { models, unusable } }) {
        const names = models.map(({ name }) => name);
        yield await Promise.resolve({ kind: 'done', result: { names, unusable }, partial: true } as const);
      }),
    );
    const { files, ...rest } = submission({ models: ['bad.onnx', 'four.onnx', 'external.onnx'] });
    const [[, external = assert.fail()] = assert.fail()] = modelsWithExternalTensor('/etc/passwd');
    const more = [['bad.onnx', Buffer.from('no model')] as const, ['external.onnx', external] as const];
    await client.submit(ID, { ...rest, files: new Map([...files, ...more]) });
    const told = (await collect(client.follow(ID, 0))).map(({ event }) => event);
    const warnings = told.flatMap((event) => (event.kind === 'note' ? [`${event.level}: ${event.message}`] : []));
    const reasons = [/^warning: bad: bad\.onnx/, /^warning: external: external\.onnx.* external file/];
    assert.equal(warnings.length, reasons.length);
    for (const [index, reason] of reasons.entries()) assert.match(warnings[index] ?? '', reason);
    const last = told.at(-1);
    assert.ok(last?.kind === 'done');
    const { names, unusable } = JSON.parse(last.resultJson ?? '') as Record<'names' | 'unusable', { name: string }[]>;
    assert.deepEqual(names, ['four']);
    assert.deepEqual(
      unusable.map(({ name }) => name),
      ['bad', 'external'],
    );
  });

  it('continues when its follower leaves, and sends the new events to a follower who comes back', async (t) => {
    const { client, attach } = await serving(t);
    let goOn = (): void => {};
    const gone = new Promise<void>((resolve) => (goOn = resolve));
    await attach(
      scripted(async function* () {
        yield { kind: 'note', level: 'info', message: 'before' };
        await gone;
        yield { kind: 'note', level: 'info', message: 'after' };
        yield DONE;
      }),
    );
    await client.submit(ID, submission());
    let seen = 0;
    for await (const { sequence, event } of client.follow(ID, 0)) {
      seen = sequence;
      if (event.kind === 'note') break;
    }
    goOn();
    const told: unknown[] = [];
    for await (const { event } of client.follow(ID, seen))
      told.push(event.kind === 'note' ? event.message : event.kind);
    assert.deepEqual(told, ['after', 'done']);
  });

  it('keeps a plugin whose message takes longer than its lease, as long as bytes arrive', async (t) => {
    const leaseMs = 3000;
    const { client, address } = await serving(t, { limits: { leaseMs } });
    const stream = handMadeClient(t, address).call(PluginServiceService.attach.path);
    const message = AttachRequest.encode(registration()).finish();
    stream.write(Buffer.concat([messagePrefix(message.length), message, messagePrefix(4 * 2 ** 20)]));
    await until(async () => (await client.plugins()).length === 1);
    const startMs = performance.now();
    for (let written = 0; performance.now() - startMs < 2 * leaseMs; written += 2048) {
      assert.equal((await client.plugins()).length, 1, `it is gone after ${written} bytes`);
      stream.write(Buffer.alloc(2048));
      await setTimeout(leaseMs / 10);
    }
    await until(async () => (await client.plugins()).length === 0);
  });

  it('reports errors with their codes', async (t) => {
    const { client, attach } = await serving(t);
    await attach(obedient);
    const codeOf = (call: Promise<unknown>): Promise<string> =>
      call.then(
        () => 'ok',
        (error: unknown) => (error instanceof PlatformError ? error.code : String(error)),
      );
    assert.equal(await codeOf(client.submit(ID, submission({ threads: 0 }))), 'manifest');
    assert.equal(await codeOf(client.submit('short', submission())), 'usage');
    assert.equal(await codeOf(client.submit(ID, submission({ plugin: 'other' }))), 'unavailable');
    assert.equal(await codeOf(client.submit(ID, submission({ hardware: { cores: { min: 99 } } }))), 'unsupported');
    assert.equal(await codeOf(client.get('evaluation-9')), 'not_found');
    assert.equal(await codeOf(client.cancel('../../etc')), 'not_found');
    assert.equal(await codeOf(client.follow('evaluation-9', 0)[Symbol.asyncIterator]().next()), 'not_found');
  });

  it('lists as many evaluations as it is asked for', async (t) => {
    const { client, attach } = await serving(t);
    await attach(obedient);
    for (const id of [ID, 'evaluation-2']) await client.submit(id, submission());
    assert.deepEqual([(await client.list(1)).length, (await client.list(0)).length], [1, 2]);
  });

  it('lists 100 evaluations by default, and 1000 at most', async (t) => {
    const { client, store, address } = await serving(t);
    const { records } = evaluationCollections(store);
    const others = { name: 'tiny', plugin: 'fake', state: 'done', digest: '', attempts: 1, traceContext: {} } as const;
    const recordAt = (index: number) => {
      const at = new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString();
      return { ...others, id: `evaluation-${index}`, submittedAt: at, changedAt: at };
    };
    await records.putMany(Array.from({ length: 1001 }, (_, index) => recordAt(index)));
    for (const [asked, got] of [
      [0, 100],
      [101, 101],
      [1000, 1000],
      [5000, 1000],
    ] as const) {
      const listed = await client.list(asked);
      assert.deepEqual([listed.length, listed[0]?.id], [got, 'evaluation-1000'], `${asked}`);
    }
    const { evaluation, last } = await client.get('evaluation-7');
    assert.deepEqual([evaluation.id, evaluation.state, last], ['evaluation-7', 'done', undefined]);
    const raw = createRpcClient(address, 'server');
    t.after(() => raw.close());
    const asked = { evaluationId: 'evaluation-7', withoutResult: false };
    const answer = await raw.unary(EvaluationServiceService.getEvaluation, asked, { deadlineMs: 30_000 });
    assert.deepEqual([answer.evaluation?.id, answer.lastEvent], ['evaluation-7', undefined]);
  });

  it('gives the result whole or in parts to those who follow, and with the state to those who ask', async (t) => {
    const { client, address, attach } = await serving(t);
    const large = 'é'.repeat(100_000);
    await attach(
      scripted(async function* () {
        yield await Promise.resolve({ kind: 'done', result: large, partial: true } as const);
      }),
    );
    await client.submit(ID, submission());
    for await (const { event } of client.follow(ID, 0)) if (event.kind === 'done') break;
    const raw = createRpcClient(address, 'server');
    t.after(() => raw.close());
    const follow = async (resultInParts: boolean) => {
      const request = { evaluationId: ID, afterSequence: 1n, resultInParts };
      const told: string[] = [];
      let json = '';
      const options = { deadlineMs: 30_000 };
      for await (const { event } of raw.stream(EvaluationServiceService.followEvaluation, request, options)) {
        told.push(`${event?.event?.$case} ${event?.sequence}`);
        if (event?.event?.$case === 'resultPart') json += event.event.value.json;
        if (event?.event?.$case === 'done') json += event.event.value.resultJson;
      }
      assert.equal(json, JSON.stringify(large));
      return told;
    };
    assert.deepEqual(await follow(false), ['done 2']);
    assert.deepEqual(await follow(true), ['resultPart 1', 'resultPart 1', 'done 2']);
    const get = async (withoutResult: boolean) => {
      const request = { evaluationId: ID, withoutResult };
      const answer = await raw.unary(EvaluationServiceService.getEvaluation, request, { deadlineMs: 30_000 });
      const { evaluation, lastEvent } = answer;
      assert.deepEqual([evaluation?.id, lastEvent?.sequence], [ID, 2n]);
      return lastEvent?.event?.$case === 'done' ? lastEvent.event.value : assert.fail();
    };
    assert.deepEqual(await get(false), { resultJson: JSON.stringify(large), partial: true, resultWithheld: false });
    assert.deepEqual(await get(true), { resultJson: '', partial: true, resultWithheld: false });
  });

  it('lets a connection follow again when it has ended others', async (t) => {
    const { client, attach } = await serving(t);
    await attach(obedient);
    await client.submit(ID, submission());
    for (let times = 0; times < 40; times++) {
      const kinds = (await collect(client.follow(ID, 0))).map(({ event }) => event.kind);
      assert.equal(kinds.at(-1), 'done');
    }
  });

  it('withholds the result from a client without the token', async (t) => {
    const token = 'one-token-0123456789';
    const { client, address, attach } = await serving(t, { token });
    await attach(obedient);
    await client.submit(ID, submission());
    for await (const { event } of client.follow(ID, 0)) if (event.kind === 'done') break;
    const resultFor = async (shown: string | undefined) => {
      const raw = createRpcClient(address, 'server', { security: { token: shown } });
      t.after(() => raw.close());
      const request = { evaluationId: ID, withoutResult: false };
      const { lastEvent } = await raw.unary(EvaluationServiceService.getEvaluation, request, { deadlineMs: 30_000 });
      return lastEvent?.event?.$case === 'done' && lastEvent.event.value;
    };
    const without = createRpcClient(address, 'server');
    t.after(() => without.close());
    const following = { evaluationId: ID, afterSequence: 1n, resultInParts: true };
    const options = { deadlineMs: 30_000 };
    for await (const { event } of without.stream(EvaluationServiceService.followEvaluation, following, options)) {
      assert.deepEqual(event?.event, {
        $case: 'done',
        value: { resultJson: '', partial: false, resultWithheld: true },
      });
    }
    const { resultJson, ...rest } = (await resultFor(undefined)) || assert.fail();
    assert.deepEqual([resultJson, rest.resultWithheld], ['', true]);
    assert.notEqual(((await resultFor(token)) || assert.fail()).resultJson, '');
  });

  it('cancels', async (t) => {
    const { client, attach } = await serving(t);
    await attach(patient);
    await client.submit(ID, submission());
    await until(async () => (await client.get(ID)).last?.event.kind === 'note');
    assert.equal((await client.cancel(ID)).state, 'cancelled');
    assert.equal((await client.cancel(ID)).state, 'cancelled');
  });
});

describe('a plugin over gRPC', deadline, () => {
  it('has to register first', async (t) => {
    const { server } = await serving(t);
    const error = await answerTo(t, server.address, [{ message: { $case: 'renewal', value: {} } }]);
    assert.equal(error.code, 'usage');
    assert.match(error.message, /a registration has to be the first message/);
  });

  it('that sends no valid message is not waited for', async (t) => {
    const { server } = await serving(t, { limits: { leaseMs: 200 } });
    const error = await answerTo(t, server.address, [{ message: undefined }]);
    assert.equal(error.code, 'timeout');
    assert.match(error.message, /left without a registration/);
  });

  it('that ends its stream without a registration gets an error that says so', async (t) => {
    const { server } = await serving(t);
    const error = await answerTo(t, server.address, [], { ends: true });
    assert.equal(error.code, 'timeout');
    assert.match(error.message, /left without a registration/);
  });

  for (const resultJson of ['{', 'NaN', '['.repeat(10_000) + ']'.repeat(10_000)]) {
    it(`that ends an evaluation with ${resultJson.slice(0, 3)} as its result makes it fail`, async (t) => {
      const { server, client } = await serving(t);
      const plugin = createRpcClient(server.address, 'server');
      t.after(() => plugin.close());
      const call = plugin.duplex(PluginServiceService.attach, { deadlineMs: 30_000 });
      call.on('error', () => {});
      call.on('data', ({ message }: AttachResponse) => {
        if (message?.$case !== 'run') return;
        const { evaluationId, attempt } = message.value;
        const done = { resultJson, partial: false, resultWithheld: false };
        const event = { sequence: 0n, time: undefined, event: { $case: 'done' as const, value: done } };
        call.write({ message: { $case: 'runEvent', value: { evaluationId, attempt, event } } });
      });
      call.write(registration({ name: 'fake' }));
      await until(() => server.platform.plugins().length === 1);
      await client.submit(ID, submission());
      await until(async () => (await client.get(ID)).evaluation.state === 'failed');
      const { last } = await client.get(ID);
      assert.ok(last?.event.kind === 'failed');
      assert.match(last.event.message, /^the plugin fake 1\.0\.0 sent a result that is no JSON/);
    });
  }

  for (const [what, event] of [
    ['started', { $case: 'started', value: { plugin: 'p', pluginVersion: '1', agent: 'evil:1', attempt: 99 } }],
    ['waiting', { $case: 'waiting', value: { reason: 'pay first' } }],
  ] as const) {
    it(`cannot send the event ${what} for an evaluation`, async (t) => {
      const { server } = await serving(t);
      const value = { evaluationId: ID, attempt: 1, event: { sequence: 0n, time: undefined, event } };
      const error = await answerTo(t, server.address, [registration(), { message: { $case: 'runEvent', value } }]);
      assert.match(error.message, /not an event/);
    });
  }

  for (const [what, changes, expected] of [
    ['an invalid name', { name: 'a b' }, /name: a name has up to 100 letters/],
    ['an invalid schema', { manifestSchemaJson: '[]' }, /manifestSchemaJson: a JSON Schema is a JSON object/],
    ['no slot', { slots: 0 }, /slots: /],
  ] as const) {
    it(`is refused with ${what}`, async (t) => {
      const { server } = await serving(t);
      assert.match((await answerTo(t, server.address, [registration(changes)])).message, expected);
      assert.deepEqual(server.platform.plugins(), []);
    });
  }

  it('that sends an invalid event loses its stream, without effect on others', async (t) => {
    const { server, client, attach } = await serving(t);
    await attach(obedient);
    const estimate = { model: 'm', latencyMs: 1, lowMs: undefined, highMs: undefined, coverage: 7, percentiles: [] };
    const event = { sequence: 0n, time: undefined, event: { $case: 'estimate' as const, value: estimate } };
    const value = { evaluationId: ID, attempt: 1, event };
    const error = await answerTo(t, server.address, [registration(), { message: { $case: 'runEvent', value } }]);
    assert.match(error.message, /not an event: coverage/);
    await client.submit(ID, submission());
    await until(async () => (await client.get(ID)).evaluation.state === 'done');
  });

  it('cannot send events for evaluations that it does not run', async (t) => {
    const { server, client, attach } = await serving(t);
    await attach(patient);
    await client.submit(ID, submission());
    await until(async () => (await client.get(ID)).last?.event.kind === 'note');
    const intruder = createRpcClient(server.address, 'server');
    t.after(() => intruder.close());
    const call = intruder.duplex(PluginServiceService.attach, { deadlineMs: 30_000 });
    call.on('error', () => {});
    call.write(registration());
    const event = { sequence: 0n, time: undefined, event: { $case: 'cancelled' as const, value: {} } };
    call.write({ message: { $case: 'runEvent', value: { evaluationId: ID, attempt: 1, event } } });
    await until(() => server.platform.plugins().length === 2);
    // The server reads the end of the stream after everything that came before.
    call.end();
    await until(() => server.platform.plugins().length === 1);
    assert.equal((await client.get(ID)).evaluation.state, 'running');
  });

  it('that stops renewing is detached', async (t) => {
    const { server } = await serving(t, { limits: { leaseMs: 3000 } });
    const silent = createRpcClient(server.address, 'server');
    t.after(() => silent.close());
    const call = silent.duplex(PluginServiceService.attach, { deadlineMs: 30_000 });
    call.on('error', () => {});
    call.write(registration());
    await until(() => server.platform.plugins().length === 1);
    await until(() => server.platform.plugins().length === 0);
  });

  it('that renews stays', async (t) => {
    const { server, attach } = await serving(t, { limits: { leaseMs: 3000 } });
    await attach(obedient);
    const silent = createRpcClient(server.address, 'server');
    t.after(() => silent.close());
    const call = silent.duplex(PluginServiceService.attach, { deadlineMs: 30_000 });
    call.on('error', () => {});
    call.write(registration());
    await until(() => server.platform.plugins().length === 2);
    await until(() => server.platform.plugins().length === 1);
    // By now the lease of the first one would have run out as well.
    assert.deepEqual(
      server.platform.plugins().map(({ name }) => name),
      [obedient.name],
    );
  });
});
