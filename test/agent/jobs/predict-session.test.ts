import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PredictSession } from '../../../src/agent/jobs/predict-session.js';
import type { PredictionModel } from '../../../src/registry/prediction-model.js';
import { fakePredictor } from '../support/fake-context.js';
import { runOptions } from '../support/tiny-benchmarks.js';

test('a model that the runtime refuses cannot be opened for predictions', async () => {
  const model = { path: 'm.onnx' } as PredictionModel;
  const predictor = { ...fakePredictor({}), open: () => Promise.reject(new Error('no such operator')) };
  await assert.rejects(PredictSession.open(model, runOptions, predictor), {
    code: 'unsupported',
    message: /no such operator/,
  });
});
