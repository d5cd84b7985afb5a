import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { inferProfiled } from '../../../src/agent/jobs/infer-profiled.js';
import type { Predictor } from '../../../src/predictor/predictor.js';
import type { ProfiledKernel, ProfiledRun } from '../../../src/predictor/profile.js';
import type { TensorValue } from '../../../src/predictor/tensor-value.js';
import { SpanRecorder } from '../../../src/tracing/span-recorder.js';
import { fakePredictor } from '../support/fake-context.js';
import { runOptions } from '../support/tiny-benchmarks.js';

const SOURCE = { kind: 'file', path: 'm.onnx' } as const;

function profiled(name: string): ProfiledRun {
  const tensors = { inputDims: [], outputDims: [], inputTypes: [], outputTypes: [], elementType: '', inner: [] };
  const kernel: ProfiledKernel = {
    name,
    opType: 'Op',
    executionProvider: 'cpu',
    startNs: 0,
    durationNs: 1,
    ...tensors,
  };
  return { durationNs: 1, kernels: [kernel] };
}

/** A runtime that notes what it does in the folder of its profile. */
function noting(evaluate: () => Promise<ReadonlyMap<string, TensorValue>>) {
  const done: string[] = [];
  let folder = '';
  const fake = fakePredictor({ execute: () => Promise.resolve(void done.push('execute')), evaluate }, [
    profiled('of the warm-up'),
    profiled('of the batch'),
  ]);
  const predictor: Predictor = {
    ...fake,
    openProfiled: async (...given) => {
      folder = given[2];
      done.push(existsSync(folder) ? 'open' : 'no folder');
      const model = await (fake.openProfiled ?? assert.fail())(...given);
      return { ...model, close: () => Promise.resolve(void done.push(existsSync(folder) ? 'close' : 'no folder')) };
    },
  };
  return { predictor, done, isFolderLeft: () => existsSync(folder) };
}

test('a traced batch has the kernels of its own run, and neither those nor the time of the warm-up before it', async () => {
  const { predictor, done, isFolderLeft } = noting(() => Promise.resolve(new Map()));
  const recorder = new SpanRecorder('FRAMEWORK_TRACE');
  const inferred = await inferProfiled(predictor, SOURCE, runOptions, new Map(), recorder);
  const [run, ...others] = recorder.take();
  assert.ok(run !== undefined && inferred !== undefined && others.length === 0);
  assert.deepEqual([run.name, run.attributes['evaluation_trace_level']], ['c_predict', 'FRAMEWORK_TRACE']);
  assert.deepEqual(
    run.children.map(({ name }) => name),
    ['of the batch'],
  );
  assert.equal(inferred.inferenceMs, run.durationNs / 1e6);
  assert.deepEqual(done, ['open', 'execute', 'close']);
  assert.equal(isFolderLeft(), false);
});

test('a traced batch whose run fails leaves neither a session nor a folder', async () => {
  const { predictor, done, isFolderLeft } = noting(() => Promise.reject(new Error('node relu failed')));
  const recorder = new SpanRecorder('FRAMEWORK_TRACE');
  await assert.rejects(inferProfiled(predictor, SOURCE, runOptions, new Map(), recorder), /node relu failed/);
  assert.deepEqual(done, ['open', 'execute', 'close']);
  assert.equal(isFolderLeft(), false);
});
