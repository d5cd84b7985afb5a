import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { layerGraph } from '../../../src/onnx/layers/layer-graph.js';
import { sharesOfLayers } from '../../../src/onnx/layers/shares-of-layers.js';
import { totalWork, workOfLayers } from '../../../src/onnx/layers/work-of-layers.js';
import { standardNode } from '../../../src/onnx/model/standard-node.js';
import { graph as protoGraph, graphAttribute } from '../protos.js';
import { GraphBuilder, int64Tensor } from '../../plugins/dlbricks/support/graph-builder.js';

/** Two matrices multiplied by the same 4 x 4 weights, a sum of a value with itself, and layers without arithmetic. */
function graph() {
  const g = new GraphBuilder();
  const weight = g.weight([4, 4], 4);
  const first = g.layer('MatMul', [g.input('float32', [2, 4]), weight], [2, 4]);
  const second = g.layer('MatMul', [first, weight], [2, 4]);
  const sum = g.layer('Add', [second, second], [2, 4]);
  const flat = g.layer('Reshape', [sum, g.constant(int64Tensor([8]))], [8]);
  const clipped = g.layer('Clip', [flat, '', g.weight([], 4)], [8]);
  return layerGraph(g.model([g.layer('NoSuchOperator', [clipped], [8])]));
}

describe('the work of layers', () => {
  test('has each value once for each layer, and neither sizes nor limits among the parameters', () => {
    assert.deepEqual(
      workOfLayers(graph()).map(({ node, parameters, parameterBytes, activationBytes, outputBytes }) => [
        node.opType,
        parameters,
        parameterBytes,
        activationBytes,
        outputBytes,
      ]),
      [
        ['MatMul', 16, 64, 32, 32],
        ['MatMul', 16, 64, 32, 32],
        ['Add', 0, 0, 32, 32],
        ['Reshape', 0, 8, 32, 32],
        ['Clip', 0, 4, 32, 32],
        ['NoSuchOperator', 0, 0, 32, 32],
      ],
    );
  });

  test('has the operations and shapes of each layer, or says why it is not counted', () => {
    assert.deepEqual(
      workOfLayers(graph()).map(({ multiplyAccumulates, operations, uncounted, shapes }) => [
        multiplyAccumulates,
        operations,
        uncounted,
        shapes,
      ]),
      [
        [32, 64, undefined, [[2, 4]]],
        [32, 64, undefined, [[2, 4]]],
        [0, 8, undefined, [[2, 4]]],
        [0, 0, undefined, [[8]]],
        [0, 16, undefined, [[8]]],
        [0, undefined, 'operators of this type are not counted', [[8]]],
      ],
    );
  });

  test('is not counted where a shape is not known, and inside of subgraphs', () => {
    const of = graph();
    const body = graphAttribute('body', protoGraph({}));
    const layers = of.layers.map((node) => (node.opType === 'Add' ? { ...node, attributes: [body] } : node));
    const works = workOfLayers({ ...of, layers, types: new Map() });
    assert.deepEqual(
      works.slice(0, 3).map(({ uncounted }) => uncounted),
      [
        'a shape or an attribute is not known',
        'a shape or an attribute is not known',
        'the work inside of it is not counted',
      ],
    );
    const { multiplyAccumulates, operations, uncountedLayers } = totalWork(of, works);
    assert.deepEqual([multiplyAccumulates, operations, uncountedLayers], [0, 0, 5]);
  });

  test('is in all that of its layers, with weights that several layers read once', () => {
    const { multiplyAccumulates, ...total } = totalWork(graph(), workOfLayers(graph()));
    assert.equal(multiplyAccumulates, 64);
    assert.deepEqual(total, {
      operations: 152,
      uncountedLayers: 1,
      parameters: 16,
      parameterBytes: 64 + 8 + 4,
      activationBytes: 6 * 32,
      outputBytes: 6 * 32,
    });
  });
});

describe('the layers of a kernel', () => {
  const source = graph();
  const [first, second, sum, flat, clipped, last] = source.layers;
  const kernel = (name: string, from: (typeof source.layers)[number] | undefined) => {
    return standardNode(name, 'Fused', [], from?.outputs ?? []);
  };

  test('share it by their operations, or equally where an operator is not counted', () => {
    assert.ok(first && second && sum && flat && clipped && last);
    const kernels = [kernel('a', first), kernel('b', sum), kernel('c', last)];
    assert.deepEqual(sharesOfLayers(source, kernels, ['a', 'b', 'c', 'unknown']), [
      [{ layer: 0, share: 1, by: undefined }],
      [
        { layer: 1, share: 64 / 72, by: 'operations' },
        { layer: 2, share: 8 / 72, by: 'operations' },
      ],
      [3, 4, 5].map((layer) => ({ layer, share: 1 / 3, by: 'number of layers' })),
      [],
    ]);
  });

  test('are those of the kernel that ran: kernels of one name run in the order of the graph', () => {
    const kernels = [kernel('same', first), kernel('same', second)];
    const layersOf = (names: readonly string[]) =>
      sharesOfLayers(source, kernels, names).map((shares) => shares.map(({ layer }) => layer));
    assert.deepEqual(layersOf(['same', 'same', 'same']), [[0], [1], []]);
  });

  test('share it equally where they have no operations', () => {
    const g = new GraphBuilder();
    const flat = g.layer('Flatten', [g.input('float32', [2, 4])], [2, 4]);
    const model = g.model([g.layer('Identity', [flat], [2, 4])]);
    const shares = sharesOfLayers(layerGraph(model), [standardNode('k', 'Fused', [], model.graph.outputs)], ['k']);
    assert.deepEqual(shares, [[0, 1].map((layer) => ({ layer, share: 0.5, by: 'number of layers' }))]);
  });
});
