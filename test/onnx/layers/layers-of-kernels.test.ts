import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layerGraph } from '../../../src/onnx/layers/layer-graph.js';
import { layersOfKernels } from '../../../src/onnx/layers/layers-of-kernels.js';
import type { Node } from '../../../src/onnx/model/model.js';
import { parseModel } from '../../../src/onnx/read/read-model.js';
import { node, pipeline, value } from '../protos.js';

/** x ─► Abs ─► a ─► Neg ─► b ─► Exp ─► c ─► Sqrt ─► y */
const source = layerGraph(
  parseModel(
    pipeline(
      [node('Abs', ['x'], ['a']), node('Neg', ['a'], ['b']), node('Exp', ['b'], ['c']), node('Sqrt', ['c'], ['y'])],
      { valueInfo: ['a', 'b', 'c'].map((name) => value(name, [1, 4])) },
    ),
    'model',
  ),
);

function kernel(name: string, output: string, domain = ''): Node {
  return {
    name,
    opType: domain === '' ? 'Fused' : 'ReorderOutput',
    domain,
    inputs: [],
    outputs: [output],
    attributes: [],
  };
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

test('a kernel in the blocked layout has the name of its value, and a change of the layout has no layers', () => {
  const kernels = [kernel('a_nchwc', 'r1'), kernel('reorder', 'r2', 'com.microsoft.nchwc'), kernel('other', 'r3')];
  const { layers, ends, blocked } = layersOfKernels(source, kernels);
  assert.deepEqual(
    [layers, ends, blocked],
    [
      [[0], [], []],
      [0, undefined, undefined],
      [true, false, true],
    ],
  );
});
