import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { readTrace } from '../../src/foreign-traces/read-trace.js';

/** Each made by the program that its README names. */
const FIXTURES = join(import.meta.dirname, '../../../test/foreign-traces/fixtures');

const operatorsOf = (layers: readonly { readonly operator: string }[]): string[] =>
  layers.map(({ operator }) => operator);

describe('traces of real producers', () => {
  for (const file of ['jaeger.json', 'otlp.json']) {
    test(`${file}: a model's layers, its system, and its time with and without layer tracing`, async () => {
      const [model, ...others] = await readTrace(join(FIXTURES, file));
      assert(model !== undefined);
      assert.deepEqual(others, []);
      assert.equal(model.model, 'tiny');
      assert.equal(model.system, 'node-1, AMD EPYC');
      assert.deepEqual(operatorsOf(model.layers), ['Conv', 'Relu', 'Conv', 'Relu', 'GlobalAveragePool']);
      const [first] = model.layers;
      assert.deepEqual(first?.outputs, [{ elementType: undefined, dims: [1, 8, 32, 32] }]);
      // The programs that made the fixtures give run r of this layer 400 + r microseconds.
      assert.deepEqual(first.samplesMs, [0.4, 0.401, 0.402, 0.403, 0.404]);
      assert.deepEqual(model.wholeMs, [0.962, 0.967, 0.972, 0.977, 0.982]);
      assert.deepEqual(model.tracedWholeMs, [1.062, 1.067, 1.072, 1.077, 1.082]);
    });
  }

  test('a profile of ONNX Runtime: kernels of the optimized graph, with all inputs and three runs', async () => {
    const [model] = await readTrace(join(FIXTURES, 'onnxruntime.json'));
    assert(model !== undefined);
    assert.equal(model.tracedWholeMs.length, 3);
    assert.deepEqual(operatorsOf(model.layers).toSorted(), [
      'Conv',
      'Conv',
      'Conv',
      'GlobalAveragePool',
      'ReorderInput',
      'ReorderOutput',
    ]);
    assert(model.layers.every(({ runs }) => runs === 3));
    const conv = model.layers.find(({ operator }) => operator === 'Conv');
    assert.deepEqual(conv?.inputs, [
      { elementType: 'float32', dims: [1, 16, 56, 56] },
      { elementType: 'float32', dims: [16, 16, 3, 3] },
    ]);
  });

  test('a trace of PyTorch: the operators that the model called, and not those that they called', async () => {
    const [model] = await readTrace(join(FIXTURES, 'pytorch.json'), { model: 'tiny' });
    assert(model !== undefined);
    assert.equal(model.tracedWholeMs.length, 3);
    const operators = operatorsOf(model.layers);
    assert(operators.includes('aten::conv2d'));
    assert(!operators.includes('aten::convolution'));
    // conv, batch norm, relu, pool, conv, relu, flatten, linear; each the same in every run.
    const layers = model.layers.filter(({ operator }) =>
      /conv2d|batch_norm|relu|max_pool2d|flatten|linear/.test(operator),
    );
    assert.equal(layers.length, 8);
    assert(layers.every(({ runs }) => runs === 3));
    assert.deepEqual(layers[0]?.inputs?.[1], { elementType: 'float32', dims: [8, 3, 3, 3] });
  });
});
