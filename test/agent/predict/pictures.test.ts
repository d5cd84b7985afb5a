import { status } from '@grpc/grpc-js';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { FeatureType } from '../../../src/generated/mlmodelscope/org/dlframework/features.js';
import {
  ExecutionOptions_TraceLevel,
  PredictService,
} from '../../../src/generated/mlmodelscope/org/dlframework/predictor.js';
import { fromWireDuration } from '../../../src/rpc/duration.js';
import { coloredPictures } from '../support/colored-pictures.js';
import { foundIn, type Options, type PredictClient, predictClient } from '../support/predict-client.js';
import { LABELS, predictionModels } from '../support/prediction-models.js';
import { measuringProcessesOf, needsLinux } from '../support/processes.js';
import { assertStatus, rawClient } from '../support/raw-client.js';
import { agentForSuite } from '../support/running-agent.js';

const FIXTURES = join(import.meta.dirname, '../../../../test/processing/fixtures');

describe('predicting for pictures', { timeout: 300_000 }, () => {
  const agent = agentForSuite({ resolveModel: predictionModels() });
  let client: PredictClient;
  let pictures: readonly Buffer[];
  let model: string;
  before(async () => {
    client = predictClient(agent().address);
    pictures = await coloredPictures(5);
    model = await client.open('classifier');
  });
  after(() => client.close());

  test('classes come with labels, the likeliest first, as many as the manifest says', async () => {
    const { responses } = await client.images(model, pictures);

    assert.equal(responses.length, 5);
    for (const [i, { inputId, features }] of responses.entries()) {
      assert.equal(inputId, `picture ${i}`);
      const [first, second] = features;
      assert.ok(features.length === 2 && first !== undefined && second !== undefined);
      assert.ok(first.probability >= second.probability && first.probability <= 1 && second.probability > 0);
      for (const { type, feature } of features) {
        assert.equal(type, FeatureType.CLASSIFICATION);
        assert.ok(feature?.$case === 'classification');
        assert.equal(feature.value.label, LABELS[feature.value.index]);
      }
    }
  });

  test('all classes of a picture are probabilities of all labels', async () => {
    const [response] = (await client.images(model, pictures.slice(0, 1), { featureLimit: 99 })).responses;
    const sum = response?.features.reduce((total, { probability }) => total + probability, 0) ?? 0;
    assert.equal(response?.features.length, LABELS.length);
    assert.ok(Math.abs(sum - 1) < 1e-5);
  });

  test('the batch size does not change the features', async () => {
    const answers = await Promise.all([1, 2, 5, 100].map((batchSize) => client.images(model, pictures, { batchSize })));
    const [first, ...others] = answers.map(foundIn);
    for (const other of others) assert.deepEqual(other, first);
  });

  test('the same picture gives the same features in every batch', async () => {
    const [first, again] = [
      await client.images(model, pictures),
      await client.images(model, [...pictures].reverse()),
    ].map(foundIn);
    assert.deepEqual(
      again?.map(({ features }) => features).reverse(),
      first?.map(({ features }) => features),
    );
  });

  test('a batch that the model fixes is filled up', async () => {
    const fixed = await client.open('fixed');
    assert.deepEqual(foundIn(await client.images(fixed, pictures)), foundIn(await client.images(model, pictures)));
    const asked = client.images(fixed, pictures, { batchSize: 2 });
    await assertStatus(asked, status.INVALID_ARGUMENT, /batch of fixed is fixed at 3/);
    await client.closeModel(fixed);
  });

  test('a request’s ids come back, and times add up', async () => {
    const request = { requestId: 'r-1', executionOptions: { traceId: { id: 'abc' } } };
    const { id, traceId, responses, durationForInference, duration } = await client.images(model, pictures, request);
    const [inferenceMs = 0, wholeMs = 0] = [durationForInference, duration].map(fromWireDuration);

    assert.ok(id !== '' && new Set(responses.map((response) => response.id)).size === 5);
    assert.deepEqual([traceId?.id, ...new Set(responses.map(({ requestId }) => requestId))], ['abc', 'r-1']);
    assert.ok(inferenceMs > 0 && inferenceMs <= wholeMs);
  });

  test('pictures without an id have their position as id', async () => {
    const images = pictures.slice(0, 2).map((data) => ({ id: '', data }));
    const request = { predictor: { id: model, duration: undefined }, images, options: undefined };
    const raw = rawClient(agent().address);
    const { responses } = await raw.unary(PredictService.images, request);
    raw.close();
    assert.deepEqual(
      responses.map(({ inputId }) => inputId),
      ['0', '1'],
    );
  });

  test('times of batches are given at the level of the application, and not without tracing', async () => {
    const at = async (traceLevel: ExecutionOptions_TraceLevel) => {
      const options = { batchSize: 2, executionOptions: { traceLevel } };
      return (await client.images(model, pictures, options)).responses.map(({ metadata }) => metadata);
    };
    const traced = await at(ExecutionOptions_TraceLevel.APPLICATION_TRACE);

    assert.deepEqual(
      traced.map((metadata) => metadata['batch_index']),
      ['0', '0', '1', '1', '2'],
    );
    assert.ok(traced.every((metadata) => Number(metadata['inference_ms']) > 0));
    assert.deepEqual(await at(ExecutionOptions_TraceLevel.NO_TRACE), [{}, {}, {}, {}, {}]);
  });

  test('options given when a model is opened hold for its predictions, which can override them', async () => {
    const id = await client.open('classifier', { featureLimit: 1 });
    const counts = async (options: Options) => {
      return (await client.images(id, pictures.slice(0, 1), options)).responses[0]?.features.length;
    };
    assert.deepEqual([await counts({}), await counts({ featureLimit: 3 })], [1, 3]);
    await client.closeModel(id);
  });

  test('a reset starts a new process for the model under the same id', { skip: needsLinux }, async () => {
    const id = await client.open('classifier');
    const before = foundIn(await client.images(id, pictures));
    const processes = measuringProcessesOf(process.pid);
    const { predictor } = await client.reset(id);

    assert.equal(predictor?.id, id);
    assert.deepEqual(foundIn(await client.images(id, pictures)), before);
    const fresh = measuringProcessesOf(process.pid).filter((pid) => !processes.includes(pid));
    assert.equal(fresh.length, 1);
    assert.equal(measuringProcessesOf(process.pid).length, processes.length);
    await client.closeModel(id);
  });

  test('resets and predictions at the same time all succeed', async () => {
    const id = await client.open('classifier');
    const predicting = [client.images(id, pictures), client.images(id, pictures)];
    await Promise.all([client.reset(id), client.reset(id)]);
    for (const answer of await Promise.all(predicting)) assert.equal(answer.responses.length, 5);
    await client.closeModel(id);
  });

  test('closing waits for a prediction, unless it is forced', async () => {
    const id = await client.open('classifier');
    const [answer] = await Promise.all([client.images(id, pictures, { batchSize: 1 }), client.closeModel(id)]);
    assert.equal(answer.responses.length, 5);

    const endless = await client.open('endless');
    const predicting = client.dataset(endless, 'synthetic', '');
    const failing = assertStatus(predicting, status.FAILED_PRECONDITION, /closed now/);
    setTimeout(() => void client.closeModel(endless, true), 300);
    await failing;
  });

  test('a prediction ends at its time limit, and the agent continues', async () => {
    const id = await client.open('endless');
    const options = { executionOptions: { timeoutInMs: 500n } };
    const asked = client.dataset(id, 'synthetic', '', options);
    await assertStatus(asked, status.DEADLINE_EXCEEDED, /time limit of 0\.5 s; the model is closed now/);
    await assertStatus(client.closeModel(id), status.NOT_FOUND);
    assert.equal((await client.images(model, pictures)).responses.length, 5);
  });

  const photo = readFileSync(join(FIXTURES, 'photo.jpg'));
  const unusable: readonly [string, readonly Uint8Array[], Options, RegExp][] = [
    ['no picture', [], {}, /images is empty/],
    ['an empty one', [new Uint8Array()], {}, /input "picture 0": expected a JPEG/],
    ['noise among pictures', [photo, Buffer.from([1, 2, 3, 4])], { batchSize: 2 }, /input "picture 1": expected/],
    ['half a picture', [photo.subarray(0, 900)], {}, /input "picture 0"/],
    ['a negative batch', [photo], { batchSize: -1 }, /batch_size is -1/],
    ['a gigantic batch', [photo], { batchSize: 1_000_000 }, /batch_size is 1000000/],
    ['a negative limit', [photo], { featureLimit: -5 }, /feature_limit is -5/],
    [
      'an unknown level',
      [photo],
      { executionOptions: { traceLevel: 99 as ExecutionOptions_TraceLevel } },
      /trace_level is unknown/,
    ],
    [
      'more pictures than a request may have',
      Array.from({ length: 1001 }, () => photo),
      {},
      /1001 inputs; send at most/,
    ],
  ];
  for (const [name, data, options, details] of unusable) {
    test(`refuses ${name}`, async () => {
      await assertStatus(client.images(model, data, options), status.INVALID_ARGUMENT, details);
      assert.equal((await client.images(model, pictures)).responses.length, 5);
    });
  }

  test('a missing device and an id without an open model are refused', async () => {
    const onGpu = client.images(model, pictures, { executionOptions: { deviceCount: { GPU: 1 } } });
    await assertStatus(onGpu, status.FAILED_PRECONDITION, /asks for a GPU/);
    await assertStatus(client.images('nobody', pictures), status.NOT_FOUND, /no model is open/);
  });

  test('a model without steps takes no pictures', async () => {
    const id = await client.open('relu');
    await assertStatus(client.images(id, pictures), status.INVALID_ARGUMENT, /its manifest has no steps/);
    await client.closeModel(id);
  });

  test('a request beyond 64 MiB is refused, one of 60 MiB answered', async () => {
    const large = (mib: number) => Array.from({ length: mib }, () => Buffer.alloc(2 ** 20));
    await assertStatus(client.images(model, large(65)), status.RESOURCE_EXHAUSTED);
    await assertStatus(client.images(model, large(60)), status.INVALID_ARGUMENT, /picture 0/);
  });
});
