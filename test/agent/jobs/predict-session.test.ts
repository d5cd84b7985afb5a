import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused } from '../../rpc/support/refusal.js';
import { type BatchInput, PredictSession } from '../../../src/agent/jobs/predict-session.js';
import type { Predictor } from '../../../src/predictor/predictor.js';
import type { TensorValue } from '../../../src/predictor/tensor-value.js';
import type { PredictionModel } from '../../../src/registry/prediction-model.js';
import { SpanRecorder } from '../../../src/tracing/span-recorder.js';
import type { TraceLevel } from '../../../src/tracing/trace-level.js';
import { coloredPictures } from '../support/colored-pictures.js';
import { fakePredictor } from '../support/fake-context.js';
import { PICTURE_STEPS } from '../support/prediction-models.js';
import { runOptions } from '../support/tiny-benchmarks.js';

test('a model that the runtime refuses cannot be opened for predictions', async () => {
  const model = { path: 'm.onnx' } as PredictionModel;
  const predictor = { ...fakePredictor({}), open: () => Promise.reject(new Error('no such operator')) };
  await assertRefused(PredictSession.open(model, runOptions, predictor), 'unsupported', /no such operator/);
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

describe('a model of tensors', () => {
  const input = { elementType: 'float32', isBatched: true, sizes: [], fill: { low: 0, high: 1, seed: 7 } } as const;
  const model = {
    name: 'tensors',
    version: '1.0.0',
    path: 'm.onnx',
    inputs: [
      { ...input, name: 'x', dims: [1, 3] },
      { ...input, name: 'table', dims: [2], isBatched: false },
    ],
    postprocessors: new Map(),
    fixedBatchSize: undefined,
  } satisfies PredictionModel;

  /** What the runtime gets for a batch: the dimensions and the numbers of each input. */
  async function fedWith(batch: BatchInput) {
    const fed = new Map<string, { readonly dims: readonly number[]; readonly numbers: readonly number[] }>();
    const fake = fakePredictor({});
    const predictor: Predictor = {
      ...fake,
      open: async (...given) => {
        assert.deepEqual([...given], [{ kind: 'file', path: 'm.onnx' }, runOptions]);
        const opened = await fake.open(...given);
        const prepare = (feeds: ReadonlyMap<string, TensorValue>) => {
          for (const [name, { dims, bytes }] of feeds) {
            const numbers = [...new Float32Array(bytes.slice().buffer)];
            fed.set(name, { dims, numbers });
          }
          return opened.prepare(feeds);
        };
        return { ...opened, prepare };
      },
    };
    const session = await PredictSession.open(model, runOptions, predictor);
    const { features } = await session.predict({ input: batch, featureLimit: 0 }, new SpanRecorder('NO_TRACE'));
    return { x: fed.get('x'), table: fed.get('table'), elements: features.length };
  }

  test('gets the tensors of a batch one after another, and once what is the same for all', async () => {
    const tensor = (...numbers: readonly number[]): TensorValue => {
      return {
        elementType: 'float32',
        dims: [numbers.length],
        bytes: new Uint8Array(Float32Array.from(numbers).buffer),
      };
    };
    const element = (first: number) =>
      new Map([
        ['x', tensor(first, first + 1, first + 2)],
        ['table', tensor(8, 9)],
      ]);
    const { x, table, elements } = await fedWith({ kind: 'tensors', elements: [element(1), element(4)] });
    assert.deepEqual(x, { dims: [2, 3], numbers: [1, 2, 3, 4, 5, 6] });
    assert.deepEqual([table, elements], [{ dims: [2], numbers: [8, 9] }, 2]);
  });

  test('has its steps and its run in a trace, and the kernels of a run of its own in a deeper one', async () => {
    const tensors = { inputDims: [], outputDims: [], inputTypes: [], outputTypes: [], elementType: '', inner: [] };
    const kernel = { name: 'relu', opType: 'Relu', executionProvider: 'cpu', startNs: 0, durationNs: 1, ...tensors };
    const predictor = fakePredictor({}, [{ durationNs: 1, kernels: [kernel] }]);
    const session = await PredictSession.open(model, runOptions, predictor);
    const tracedAt = async (level: TraceLevel) => {
      const recorder = new SpanRecorder(level);
      const input = { kind: 'made-up', first: 0, count: 1 } as const;
      await session.predict({ input, featureLimit: 0 }, recorder);
      const [before, predict, after] = recorder.take();
      assert.deepEqual([before?.name, predict?.name, after?.name], ['preprocess', 'predict', 'postprocess']);
      const [run, ...others] = predict?.children ?? [];
      assert.deepEqual([run?.name, run?.level, others], ['c_predict', 'MODEL_TRACE', []]);
      return [run?.attributes['evaluation_trace_level'], run?.children.map(({ name }) => name)];
    };
    assert.deepEqual(await tracedAt('MODEL_TRACE'), ['MODEL_TRACE', []]);
    assert.deepEqual(await tracedAt('FRAMEWORK_TRACE'), ['FRAMEWORK_TRACE', ['relu']]);
  });

  test('gets the same made-up values for an element in a batch of any size', async () => {
    const { x, table, elements } = await fedWith({ kind: 'made-up', first: 10, count: 3 });
    assert.deepEqual([x?.dims, table?.dims, elements], [[3, 3], [2], 3]);
    assert.equal(new Set(x?.numbers).size, 9);
    const second = await fedWith({ kind: 'made-up', first: 11, count: 1 });
    assert.deepEqual(second.x, { dims: [1, 3], numbers: x?.numbers.slice(3, 6) });
  });
});
