import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { fromWireSubmission } from '../../../src/evaluation/wire/submission-wire.js';
import { evaluationCollections } from '../../../src/evaluation/records.js';
import { Submission } from '../../../src/generated/mlmodelscope/evaluation/v1/submission.js';
import { ModelManifest } from '../../../src/generated/carml/org/dlframework/registry.js';
import { keepEstimates } from '../../../src/measuring/estimates.js';
import {
  defineOperations,
  encodeFiles,
  predictionSchema,
  readResult,
  submissionSchema,
} from '../../../src/server/http/api.js';
import { openApiDocument, type Operation, parsedBody } from '../../../src/server/http/operation.js';
import { SharedEstimates } from '../../../src/server/http/site-data.js';
import { openMemoryStore } from '../../../src/store/memory/open.js';
import { offer } from '../../directory/support/offer.js';
import { assertRefused, refusal } from '../../rpc/support/refusal.js';
import { sampleMeasurement, signatureOf, SYSTEM } from '../../store/sample-measurement.js';
import { until } from '../../support/until.js';
import { AGENT, directoryWith, openPlatform } from '../fake-platform.js';
import { obedient, patient } from '../scripted-evaluation.js';
import { newEstimate } from '../site-server.js';

const MANIFEST = { dlspec: 'evaluation/v1', name: 'tiny', version: '1.0.0', plugin: 'fake', models: ['zoo:resnet18'] };

/** The operations of a platform with one agent, and a way to run one of them. */
async function operating(t: TestContext) {
  const store = await openMemoryStore();
  const agents = directoryWith(AGENT.address);
  const { platform, attach } = await openPlatform({ store, agents });
  t.after(() => platform.close());
  const showResult = () => Promise.resolve(undefined);
  const sources = { platform, store, agents, agentSecurity: {}, showResult };
  const operations = defineOperations(sources, new SharedEstimates(store));
  const find = (name: string): Operation => {
    const [method, path] = name.split(' ');
    return operations.find((one) => one.method === method && one.path === path) ?? assert.fail(name);
  };
  const run = async (
    name: string,
    { params = {}, query = {}, body = {}, isTrusted = true }: Partial<Parameters<Operation['run']>[0]> = {},
  ) => {
    const operation = find(name);
    const answer = await operation.run({ params, query, body, isTrusted, signal: t.signal });
    if (Buffer.isBuffer(answer)) return JSON.parse(answer.toString()) as unknown;
    // What the description promises, and nothing else: agents and records have more.
    return operation.answer.parse(answer);
  };
  const submit = (id: string, changes = {}) =>
    run('post /evaluations', { body: { id, manifest: { ...MANIFEST, ...changes }, files: [] } });
  const ended = (id: string) =>
    until(async () => {
      const { evaluation } = (await run('get /evaluations/{id}', { params: { id } })) as { evaluation: object };
      return 'state' in evaluation && evaluation.state === 'done';
    });
  return { platform, attach, store, agents, operations, find, run, submit, ended };
}

/** Keys of the properties of an object's schema. */
function keysOf(schema: object | undefined): string {
  const { properties = {} } = (schema ?? {}) as { readonly properties?: object };
  return Object.keys(properties).join(' ');
}

describe('the operations of the API', { timeout: 60_000 }, () => {
  const EVALUATION = 'id name plugin state submittedAt changedAt';
  const EVALUATIONS = '/mlmodelscope.evaluation.v1.EvaluationService';

  it('have a method, an address, parameters, a body and an answer, and are allowed as the gRPC methods', async (t) => {
    const { operations } = await operating(t);
    const { paths } = openApiDocument(operations) as unknown as {
      paths: Record<string, Record<string, { requestBody?: object; responses: Record<string, object> }>>;
    };
    const schemaIn = (from: object | undefined): object | undefined => {
      const { content } = (from ?? {}) as { content?: Record<string, { schema: object }> };
      return content?.['application/json']?.schema;
    };
    const table = operations.map(({ method, path, call, params = {}, query = {} }) => {
      const described = paths[`/api/v1${path}`]?.[method];
      return [
        `${method} ${path}`,
        call,
        [...Object.keys(params), ...Object.keys(query)].join(' '),
        keysOf(schemaIn(described?.requestBody)),
        keysOf(schemaIn(described?.responses['200'])),
      ];
    });
    assert.deepEqual(table, [
      ['get /estimates', `${EVALUATIONS}/GetEvaluation`, 'q system plugin batch model', '', 'estimates'],
      ['get /estimates/{subject}', `${EVALUATIONS}/GetEvaluation`, 'subject', '', 'history'],
      ['get /systems', `${EVALUATIONS}/GetEvaluation`, '', '', 'systems'],
      ['get /bricks/{signature}', `${EVALUATIONS}/GetEvaluation`, 'signature', '', 'measurements'],
      ['get /evaluations', `${EVALUATIONS}/ListEvaluations`, '', '', 'evaluations'],
      ['post /evaluations', `${EVALUATIONS}/SubmitEvaluation`, '', 'id manifest files', EVALUATION],
      ['get /evaluations/{id}', `${EVALUATIONS}/GetEvaluation`, 'id', '', 'evaluation lastEvent'],
      ['get /evaluations/{id}/result', `${EVALUATIONS}/GetEvaluation`, 'id', '', ''],
      ['post /evaluations/{id}/cancel', `${EVALUATIONS}/CancelEvaluation`, 'id', '', EVALUATION],
      ['get /agents', '/mlmodelscope.registry.v1.AgentRegistryService/ListAgents', '', '', 'agents'],
      ['get /plugins', `${EVALUATIONS}/ListPlugins`, '', '', 'plugins'],
      [
        'post /predictions',
        '/mlmodelscope.prediction.v1.PredictionService/PredictEach',
        '',
        'model agent picture',
        'rows warning milliseconds',
      ],
    ]);
    const rows = JSON.stringify(schemaIn(paths['/api/v1/predictions']?.['post']?.responses['200']));
    assert.match(rows, /"required":\["result","score","details"\]/);
    assert.ok(paths['/api/v1/evaluations/{id}/cancel']?.['post']?.requestBody !== undefined);
    for (const [name, text] of [
      ['get /estimates', 'q'],
      ['get /estimates', 'model'],
    ] as const) {
      const schema = operations.find((one) => `${one.method} ${one.path}` === name)?.query?.[text];
      assert.deepEqual(
        ['x'.repeat(1000), 'x'.repeat(1001), undefined].map((value) => schema?.safeParse(value).success),
        [true, false, true],
      );
    }
  });

  it('take the ids of evaluations, and the hashes of bricks and estimates, only as they are made', async (t) => {
    const { find } = await operating(t);
    const isTaken = (name: string, parameter: string, value: string) =>
      find(name).params?.[parameter]?.safeParse(value).success;
    for (const [name, parameter] of [
      ['get /estimates/{subject}', 'subject'],
      ['get /bricks/{signature}', 'signature'],
    ] as const) {
      assert.equal(isTaken(name, parameter, '0123456789abcdef'.repeat(4)), true);
      for (const wrong of ['a'.repeat(63), 'a'.repeat(65), 'A'.repeat(64), `\n${'a'.repeat(64)}`, `${'a'.repeat(64)}/`])
        assert.equal(isTaken(name, parameter, wrong), false, wrong);
    }
    for (const path of ['get /evaluations/{id}', 'get /evaluations/{id}/result', 'post /evaluations/{id}/cancel']) {
      for (const right of ['aB-45678', 'x'.repeat(64)]) assert.equal(isTaken(path, 'id', right), true, right);
      for (const wrong of ['1234567', 'x'.repeat(65), '../../etc', '12345678/', '/12345678'])
        assert.equal(isTaken(path, 'id', wrong), false, wrong);
    }
  });

  it('give the estimates of a query, their histories, and their systems', async (t) => {
    const { run, store } = await operating(t);
    await keepEstimates(store, SYSTEM, [newEstimate(), newEstimate({ model: 'squeezenet' })]);
    const { estimates } = (await run('get /estimates', { query: { model: 'squeezenet' } })) as {
      estimates: { model: string; subject: string }[];
    };
    assert.deepEqual(
      estimates.map(({ model }) => model),
      ['squeezenet'],
    );
    const subject = estimates[0]?.subject ?? '';
    const { history } = (await run('get /estimates/{subject}', { params: { subject } })) as { history: object[] };
    assert.deepEqual(history, estimates);
    assert.deepEqual(await run('get /systems'), { systems: [SYSTEM] });
  });

  it('give the measurements of a brick to those who may see results', async (t) => {
    const { run, store } = await operating(t);
    await store.putMeasurement(sampleMeasurement(1));
    const params = { signature: signatureOf(1) };
    assert.deepEqual(await run('get /bricks/{signature}', { params }), { measurements: [sampleMeasurement(1)] });
    const refused = run('get /bricks/{signature}', { params, isTrusted: false });
    await assertRefused(refused, 'unauthenticated', /need a token of this server/);
  });

  it('accept an evaluation, show it, and give its result to those who may see it', async (t) => {
    const { run, submit, attach, ended } = await operating(t);
    attach(obedient);
    const id = 'an-evaluation';
    const queued = (await submit(id)) as { readonly submittedAt: string };
    const { submittedAt } = queued;
    const record = { id, name: 'tiny', plugin: 'fake', state: 'queued', submittedAt, changedAt: submittedAt };
    assert.deepEqual(queued, record);
    await ended(id);
    const shown = (await run('get /evaluations/{id}', { params: { id } })) as { readonly lastEvent: object };
    assert.deepEqual(shown.lastEvent, { kind: 'done', partial: false });
    const { evaluations } = (await run('get /evaluations')) as { evaluations: { changedAt: string }[] };
    const changedAt = evaluations[0]?.changedAt ?? '';
    assert.deepEqual(evaluations, [{ ...record, state: 'done', changedAt }]);
    assert.deepEqual(await run('get /evaluations/{id}/result', { params: { id } }), { answer: 42 });
    const refused = run('get /evaluations/{id}/result', { params: { id }, isTrusted: false });
    await assertRefused(refused, 'unauthenticated', /need a token/);
  });

  it('have no result of an evaluation that is not done, or whose result the store lost', async (t) => {
    const { run, submit, attach, platform, store, ended } = await operating(t);
    const detach = attach(patient);
    const id = 'an-evaluation';
    await submit(id);
    const params = { id };
    await assertRefused(run('get /evaluations/{id}/result', { params }), 'not_found', /^the evaluation has no result$/);
    assert.equal(((await run('post /evaluations/{id}/cancel', { params })) as { state: string }).state, 'cancelled');
    await assertRefused(run('get /evaluations/{id}/result', { params }), 'not_found', /has no result/);
    detach();
    attach(obedient);
    await until(() => platform.plugins().length === 1);
    await submit('another-one');
    await ended('another-one');
    const { last } = await platform.get('another-one');
    await evaluationCollections(store).events.delete({ evaluation: 'another-one' });
    const reading = readResult(platform, 'another-one', last ?? assert.fail(), t.signal);
    await assertRefused(reading, 'not_found', /^the store no longer has the result$/);
  });

  it('show an evaluation without an event as well, and make an id where the client has none', async (t) => {
    const { run, attach, platform, store } = await operating(t);
    attach(patient);
    await until(() => platform.plugins().length === 1);
    const body = parsedBody(JSON.stringify({ manifest: MANIFEST }), submissionSchema);
    const { id } = (await run('post /evaluations', { body })) as { readonly id: string };
    assert.match(id, /^[0-9a-f-]{36}$/);
    const [record = assert.fail()] = await platform.list();
    await evaluationCollections(store).records.put({ ...record, id: 'without-events' });
    const shown = (await run('get /evaluations/{id}', { params: { id: 'without-events' } })) as { lastEvent: unknown };
    assert.equal(shown.lastEvent, null);
  });

  it('name the problems of a manifest without places in a file', async (t) => {
    const { submit, attach } = await operating(t);
    attach(obedient);
    const wrong = submit('an-evaluation', { threads: 0, batch_size: 0, models: ['zoo:evaluation.yml:1:2: x'] });
    await assert.rejects(wrong, (error: Error) => {
      assert.match(error.message, /^models\[0\]: .*"zoo:evaluation\.yml:1:2: x"/m);
      for (const line of error.message.split('\n')) assert.doesNotMatch(line, /^evaluation\.yml/);
      return refusal('manifest', /^threads: expected/m)(error);
    });
  });

  it('list the agents without what is secret, and the plugins with their schemas', async (t) => {
    const { run, agents, attach, platform } = await operating(t);
    const models = [ModelManifest.fromPartial({ name: 'relu', version: '1.0.0', model: { graphPath: 'relu.onnx' } })];
    agents.register(offer({ ...AGENT, models }), { name: '', accessToken: 'secret' });
    attach(obedient);
    await until(() => platform.plugins().length === 1);
    const listed = (await run('get /agents')) as { readonly agents: { readonly registeredAt: string }[] };
    const { registeredAt = '' } = listed.agents[0] ?? {};
    assert.deepEqual(listed, {
      agents: [{ ...AGENT, models: [{ name: 'relu', version: '1.0.0' }], registeredAt }],
    });
    const [plugin] = platform.plugins();
    assert.deepEqual(await run('get /plugins'), { plugins: [plugin] });
  });
});

describe('the files of a submission over HTTP', () => {
  const manifest = { name: 'tiny' };

  it('come with the manifest in the form of gRPC', () => {
    const bytes = Buffer.from('a model');
    const encoded = encodeFiles({ manifest, files: [{ path: 'a.onnx', base64: bytes.toString('base64') }] });
    const { manifestPath, files, graphs } = fromWireSubmission(Submission.decode(encoded));
    assert.deepEqual([manifestPath, graphs.size], ['evaluation.yml', 0]);
    assert.deepEqual(
      [...files].map(([path, content]) => [path, Buffer.from(content ?? []).toString()]),
      [
        ['a.onnx', 'a model'],
        ['evaluation.yml', '{"name":"tiny"}'],
      ],
    );
    assert.deepEqual(Submission.encode(Submission.decode(encoded)).finish(), encoded);
  });

  it('have names of their own', () => {
    const file = (path: string) => ({ path, base64: '' });
    const twice = [file('a.onnx'), file('b.onnx'), file('a.onnx')];
    assert.throws(() => encodeFiles({ manifest, files: twice }), refusal('usage', /two files are called a\.onnx/));
    const taken = [file('evaluation.yml')];
    assert.throws(() => encodeFiles({ manifest, files: taken }), refusal('usage', /called evaluation\.yml; rename/));
  });

  it('are limited in number, and in the length of their names', () => {
    const isTaken = (changes: object): boolean => submissionSchema.safeParse({ manifest, ...changes }).success;
    const files = (count: number, path = 'a') => Array.from({ length: count }, () => ({ path, base64: 'AAAA' }));
    assert.deepEqual(submissionSchema.parse({ manifest }), { manifest, files: [] });
    for (const right of [files(100), files(1, 'x'.repeat(300))]) assert.equal(isTaken({ files: right }), true);
    for (const wrong of [files(101), files(1, ''), files(1, 'x'.repeat(301))])
      assert.equal(isTaken({ files: wrong }), false);
    for (const wrong of ['short', 'x'.repeat(65)]) assert.equal(isTaken({ id: wrong }), false);
    assert.equal(submissionSchema.safeParse({ files: [] }).success, false);
    for (const base64 of ['AAA=', 'AA==', '+/09azAZ']) assert.equal(isTaken({ files: [{ path: 'a', base64 }] }), true);
    for (const base64 of ['!', ' AAAA', 'AAAA ', 'A===', '=AAA'])
      assert.equal(isTaken({ files: [{ path: 'a', base64 }] }), false, base64);
  });
});

it('a prediction needs a model, an agent and a picture', () => {
  const right = { model: 'm', agent: 'a', picture: 'A' };
  const isTaken = (changes: object): boolean => predictionSchema.safeParse({ ...right, ...changes }).success;
  for (const changes of [{}, { model: 'x'.repeat(300) }, { agent: 'x'.repeat(300) }])
    assert.equal(isTaken(changes), true);
  for (const key of ['model', 'agent', 'picture']) {
    for (const value of ['', undefined]) assert.equal(isTaken({ [key]: value }), false, `${key}: ${value}`);
  }
  for (const key of ['model', 'agent']) assert.equal(isTaken({ [key]: 'x'.repeat(301) }), false, key);
  assert.equal(isTaken({ picture: '?' }), false);
});
