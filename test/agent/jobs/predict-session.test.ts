import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PredictSession } from '../../../src/agent/jobs/predict-session.js';
import type { Predictor } from '../../../src/predictor/predictor.js';
import type { TensorValue } from '../../../src/predictor/tensor-value.js';
import type { PredictionModel } from '../../../src/registry/prediction-model.js';
import { SpanRecorder } from '../../../src/tracing/span-recorder.js';
import { coloredPictures } from '../support/colored-pictures.js';
import { fakePredictor } from '../support/fake-context.js';
import { PICTURE_STEPS } from '../support/prediction-models.js';
import { runOptions } from '../support/tiny-benchmarks.js';

test('a model that the runtime refuses cannot be opened for predictions', async () => {
  const model = { path: 'm.onnx' } as PredictionModel;
  const predictor = { ...fakePredictor({}), open: () => Promise.reject(new Error('no such operator')) };
  await assert.rejects(PredictSession.open(model, runOptions, predictor), {
    code: 'unsupported',
    message: /no such operator/,
  });
});

test('a batch of fixed size is filled up with its last picture', async () => {
  const model: PredictionModel = {
    name: 'fixed',
    version: '1.0.0',
    path: 'm.onnx',
    inputs: [
      {
        name: 'picture',
        elementType: 'float32',
        dims: [4, 3, 4, 4],
        isBatched: false,
        sizes: [4, 3, 4, 4],
        fill: { low: 0, high: 1, seed: 1 },
        steps: PICTURE_STEPS,
      },
    ],
    postprocessors: new Map(),
    fixedBatchSize: 4,
  };
  const given: TensorValue[] = [];
  const predictor: Predictor = {
    ...fakePredictor({}),
    open: () =>
      Promise.resolve({
        prepare(feeds) {
          given.push(...feeds.values());
          return { execute: () => Promise.resolve(), evaluate: () => Promise.resolve(new Map()) };
        },
        close: () => Promise.resolve(),
      }),
  };
  const session = await PredictSession.open(model, runOptions, predictor);
  const pictures = await coloredPictures(2);
  const images = pictures.map((bytes, i) => ({ id: `${i}`, bytes }));
  const startMs = performance.now();
  const batch = { input: { kind: 'images', images }, featureLimit: 0 } as const;
  const { preprocessMs, inferenceMs, postprocessMs } = await session.predict(batch, new SpanRecorder('NO_TRACE'));
  const elapsedMs = performance.now() - startMs;
  for (const ms of [preprocessMs, inferenceMs, postprocessMs]) assert.ok(ms >= 0 && ms <= elapsedMs, `${ms} ms`);
  const [value] = given;
  assert.deepEqual(value?.dims, [4, 3, 4, 4]);
  const rowBytes = 3 * 4 * 4 * 4;
  const [first, ...others] = [0, 1, 2, 3].map((row) => {
    return Buffer.from(value.bytes.subarray(row * rowBytes, (row + 1) * rowBytes)).toString('hex');
  });
  assert.equal(new Set(others).size, 1);
  assert.notEqual(first, others[0]);
});
