import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { outputCopy } from '../../../../plugins/dlbricks/bricks/output-copy.js';
import { decomposeKernels } from '../../../../plugins/dlbricks/bricks/unique-bricks.js';
import type { Benchmark } from '../../../../src/measurement/benchmark.js';
import { computeByteLength, elementCount } from '../../../../src/onnx/model/element-type.js';
import { layerGraph } from '../../../../src/onnx/layers/layer-graph.js';
import { modelFromBenchmark } from '../../../../src/measurement/weightless.js';
import type { TensorType } from '../../../../src/onnx/model/model.js';
import { elementsOf } from '../../../../src/predictor/tensor-value.js';
import { GraphBuilder, seededTensor } from '../support/graph-builder.js';
import { runBenchmark } from '../support/runtime.js';

/** From this size on, handing over is worth measuring: 64 KiB. */
const MIN_BYTES = 2 ** 16;

const large: TensorType = { elementType: 'float32', dims: [2, 128, 128] };

function handed(...types: readonly TensorType[]) {
  return outputCopy(types) ?? assert.fail('nothing is handed over');
}

function bytesOf(types: readonly TensorType[]): number {
  return types.reduce((sum, { elementType, dims }) => sum + computeByteLength(elementType, elementCount(dims)), 0);
}

async function outputTypes(benchmark: Benchmark): Promise<readonly TensorType[]> {
  return [...(await runBenchmark(benchmark)).values()].map(({ elementType, dims }) => ({ elementType, dims }));
}

describe('the cost of handing over outputs', () => {
  for (const elementType of ['float32', 'float16', 'float64', 'int64', 'int32', 'uint8', 'bool'] as const) {
    test(`is measured by a graph that hands over values of ${elementType}, and one that keeps them`, async () => {
      const types: TensorType[] = [
        { elementType, dims: [3, 64, 512] },
        { elementType, dims: [32, 1, 2048] },
      ];
      const { returned, kept } = handed(...types);
      assert.deepEqual(await outputTypes(returned), types);
      // The dimensions of two values with three dimensions each.
      assert.deepEqual(await outputTypes(kept), [{ elementType: 'int64', dims: [6] }]);
      const [shapes] = (await runBenchmark(kept)).values();
      assert.ok(shapes !== undefined);
      assert.deepEqual(Array.from(elementsOf(shapes), Number), [3, 64, 512, 32, 1, 2048]);
    });
  }

  test('is measured with values from weights that all differ', () => {
    const { returned } = handed(large, { elementType: 'int32', dims: [512, 64] });
    const seeds = returned.inputs.map(({ fill }) => fill.seed);
    assert.deepEqual(
      seeds,
      Array.from(seeds, (_, index) => index + 1),
    );
  });

  test('is the difference of two graphs that make the same values from the same weights and have no fed inputs', () => {
    const { returned, kept } = handed(large, { elementType: 'int32', dims: [512, 64] });
    assert.deepEqual(returned.inputs, kept.inputs);
    assert.ok(returned.inputs.length > 0 && returned.inputs.every(({ role }) => role === 'weight'));
    assert.notEqual(returned.signature, kept.signature);
  });

  test('is mostly the cost of writing: the weights that are read are small', () => {
    const { returned } = handed(large, { elementType: 'float32', dims: [1, 1000, 1000] });
    assert.ok(bytesOf(returned.inputs) < bytesOf([large]) / 10, `${bytesOf(returned.inputs)} bytes`);
  });

  test('is measured once for models whose outputs have the same types', () => {
    const one = handed(large);
    const same = handed({ ...large });
    const other = handed({ ...large, dims: [128, 2, 128] });
    assert.deepEqual([one.returned.signature, one.kept.signature], [same.returned.signature, same.kept.signature]);
    assert.notEqual(one.returned.signature, other.returned.signature);
    assert.deepEqual(one.types, [large]);
  });

  test('covers only the large outputs if there are small ones too', async () => {
    const { returned, types } = handed({ elementType: 'float32', dims: [1, 10] }, large);
    assert.deepEqual(await outputTypes(returned), [large]);
    assert.equal(types.length, 2);
  });
});

test('outputs that are constants of the graph are handed over too, such as the boxes that a detector starts from', () => {
  const builder = new GraphBuilder();
  const anchors = builder.constant(seededTensor([256, 256], { low: -1, high: 1 }, 1));
  const y = builder.layer('Relu', [builder.input('float32', [4, 4])], [4, 4]);
  const { outputCopy: handing } = decomposeKernels('detector', layerGraph(builder.model([y, anchors])), 1, {
    layers: 1,
    ends: { inputs: 1, outputs: 2 },
    measured: 'together',
    surroundings: { modelWeightBytes: 0, cacheBytes: 0 },
  });
  assert.deepEqual(handing?.types, [
    { elementType: 'float32', dims: [4, 4] },
    { elementType: 'float32', dims: [256, 256] },
  ]);
});

test('outputs that a Reshape writes are copied, but values between kernels are not', async () => {
  const builder = new GraphBuilder();
  const shape = builder.constant({
    elementType: 'int64',
    dims: [1],
    data: { kind: 'inline', bytes: new Uint8Array(BigInt64Array.of(32_768n).buffer) },
  });
  const x = builder.input('float32', [2, 128, 128]);
  const y = builder.layer('Relu', [builder.layer('Reshape', [x, shape], [32_768])], [32_768]);
  const z = builder.layer('Reshape', [builder.layer('Relu', [x], [2, 128, 128]), shape], [32_768]);
  const { outputCopy: handing } = decomposeKernels('reshaped', layerGraph(builder.model([y, z])), 1, {
    layers: 4,
    ends: { inputs: 1, outputs: 2 },
    measured: 'together',
    surroundings: { modelWeightBytes: 0, cacheBytes: 0 },
  });
  const flat: TensorType = { elementType: 'float32', dims: [32_768] };
  assert.deepEqual(handing?.types, [flat, { ...flat, isCopied: true }]);
  const nodes = (benchmark: Benchmark) => modelFromBenchmark(benchmark, 'handing over').graph.nodes;
  assert.deepEqual(
    nodes(handing.returned).flatMap(({ opType, outputs }) => (opType === 'Identity' ? outputs : [])),
    ['value1_copy'],
  );
  assert.ok(nodes(handing.kept).every(({ opType }) => opType !== 'Identity'));
  assert.deepEqual(await outputTypes(handing.returned), [flat, flat]);
});

describe('handing over costs nothing', () => {
  const floats = (count: number): TensorType => ({ elementType: 'float32', dims: [count] });

  test('where the outputs are small in total', () => {
    assert.equal(outputCopy([]), undefined);
    assert.equal(outputCopy([floats(MIN_BYTES / 4 - 1)]), undefined);
    assert.notEqual(outputCopy([floats(MIN_BYTES / 4)]), undefined);
    assert.notEqual(outputCopy([floats(MIN_BYTES / 8), floats(MIN_BYTES / 8)]), undefined);
  });

  test('where no single output is large, for any number of outputs', () => {
    assert.equal(outputCopy(Array.from({ length: 1000 }, () => floats(100))), undefined);
  });
});
