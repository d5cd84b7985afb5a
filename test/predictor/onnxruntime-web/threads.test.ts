import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { makeFeeds, materialize } from '../../../src/predictor/materialize.js';
import { openFilledModel } from '../../../src/predictor/open-filled-model.js';
import { onnxRuntimeWebPredictor } from '../../../src/predictor/onnxruntime-web/predictor.js';
import { benchmarkOf, relu, runOptions } from '../../agent/support/tiny-benchmarks.js';
import { withTemporaryFolder } from '../../onnx/temporary-folder.js';
import { floatsOf, matMulResult } from '../values.js';

/** Large enough to be shared out among threads, small enough for {@link matMulResult}. */
const product = benchmarkOf({
  inputs: { x: { dims: [1, 128] }, w: { dims: [128, 512], role: 'weight' } },
  nodes: [{ opType: 'MatMul', inputs: ['x', 'w'], outputs: ['y'] }],
  outputs: ['y'],
});

describe('onnxruntime-web with two threads', { timeout: 300_000 }, () => {
  const predictor = onnxRuntimeWebPredictor();
  const twoThreads = { ...runOptions, threads: 2 };

  test('computes', async () => {
    await withTemporaryFolder(async (temporaryFolder) => {
      const model = await openFilledModel(predictor, materialize(product), twoThreads, { temporaryFolder });
      const outputs = await model.prepare(makeFeeds(product)).evaluate();
      await model.close();

      const expected = matMulResult(product);
      assert.ok(floatsOf(outputs.get('y')).every((value, j) => Math.abs(value - (expected[j] ?? NaN)) < 1e-4));
    });
  });

  test('refuses another number in the same process, since it would measure with two', async () => {
    await withTemporaryFolder(async (temporaryFolder) => {
      const opening = openFilledModel(predictor, materialize(relu), runOptions, { temporaryFolder });
      await assert.rejects(opening, /measures with 2 threads was asked for 1/);
    });
  });
});
