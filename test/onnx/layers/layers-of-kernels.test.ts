import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layerGraph } from '../../../src/onnx/layers/layer-graph.js';
import { layersOfKernels } from '../../../src/onnx/layers/layers-of-kernels.js';
import type { Node } from '../../../src/onnx/model/model.js';
import { parseModel } from '../../../src/onnx/read/read-model.js';
import { node, pipeline, value } from '../protos.js';

/** x ─► Abs ─► a ─► Neg ─► b ─► Clip ─► c ─► Sqrt ─► y. The Abs has an absent output, and the Clip absent inputs. */
const source = layerGraph(
  parseModel(
    pipeline(
      [
        node('Abs', ['x'], ['a', '']),
        node('Neg', ['a'], ['b']),
        node('Clip', ['b', '', ''], ['c']),
        node('Sqrt', ['c'], ['y'], [], { name: 'root' }),
      ],
      { valueInfo: ['a', 'b', 'c'].map((name) => value(name, [1, 4])) },
    ),
    'model',
  ),
);

function kernel(name: string, output: string, opType = 'Fused'): Node {
  const domain = opType === 'Fused' ? '' : 'com.microsoft.nchwc';
  return { name, opType, domain, inputs: [], outputs: [output], attributes: [] };
}

test('a kernel computes the layers back to the values of other kernels', () => {
  const { layers, ends, blocked } = layersOfKernels(source, [kernel('', 'b'), kernel('', 'y')]);
  assert.deepEqual(
    [layers, ends, blocked],
    [
      [
        [0, 1],
        [2, 3],
      ],
      [1, 3],
      [false, false],
    ],
  );
});

test('a value that is absent belongs to no layer', () => {
  const { layers } = layersOfKernels(source, [kernel('', 'c'), kernel('', 'b')]);
  assert.deepEqual(layers, [[2], [0, 1]]);
});

test('a kernel in the blocked layout has the name of its value, and a change of the layout has no layers', () => {
  const reorders = ['ReorderInput', 'ReorderOutput'].map((opType) => kernel('a', 'r', opType));
  const kernels = [kernel('a_nchwc', 'r1'), kernel('b_bn_nchwc', 'r2'), kernel('another', 'r3'), ...reorders];
  const { layers, ends, blocked } = layersOfKernels(source, kernels);
  assert.deepEqual(
    [layers, ends, blocked],
    [
      [[0], [1], [], [], []],
      [0, 1, undefined, undefined, undefined],
      [true, true, true, false, false],
    ],
  );
});

test("a kernel whose values have no name of the author's may have the name of a layer", () => {
  const kernels = [kernel('root', 'r1'), kernel('', 'r2'), { ...kernel('', 'r3'), outputs: ['r3', 'c'] }];
  const { layers, blocked } = layersOfKernels(source, kernels);
  assert.deepEqual(
    [layers, blocked],
    [
      [[3], [], [0, 1, 2]],
      [true, true, false],
    ],
  );
});
