import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { layerGraph } from '../../../src/onnx/layers/layer-graph.js';
import { largestLayer, needOfGraph } from '../../../src/onnx/layers/memory-need.js';
import { GraphBuilder } from '../../plugins/dlbricks/support/graph-builder.js';

/** x (1 KiB) ─► Gemm with 256 KiB of weights ─► Relu ─► Gemm ─► y; all values have 256 floats. */
function graph() {
  const g = new GraphBuilder();
  const weight = () => g.weight([256, 256], 256);
  const hidden = g.layer('Gemm', [g.input('float32', [1, 256]), weight()], [1, 256]);
  const active = g.layer('Relu', [hidden], [1, 256]);
  return layerGraph(g.model([g.layer('Gemm', [active, weight()], [1, 256])]));
}

describe('the least memory', () => {
  test('of a layer is that of its weights, inputs and outputs', () => {
    assert.deepEqual(largestLayer(graph()), { weightBytes: 256 * 1024, valueBytes: 2 * 1024 });
  });

  test('of a layer is that of the one with the most, wherever it is, and nothing without layers', () => {
    const g = new GraphBuilder();
    const wide = g.layer('Concat', [g.input('float32', [256]), g.weight([768], 768)], [1024]);
    const of = layerGraph(g.model([g.layer('ReduceMax', [g.layer('Split', [wide], [256])], [1])]));
    assert.deepEqual(largestLayer(of), { weightBytes: 3 * 1024, valueBytes: 5 * 1024 });
    assert.deepEqual(largestLayer({ ...of, layers: [] }), { weightBytes: 0, valueBytes: 0 });
  });

  test('of a graph has all weights, and the values that are needed at a time', () => {
    // The input is kept. A result may replace a value that ends with its layer.
    assert.deepEqual(needOfGraph(graph()), { weightBytes: 512 * 1024, valueBytes: 2 * 1024 });
  });

  test('includes a value until its last reader has run, and a value that nothing reads only while it is made', () => {
    const needOf = (build: (g: GraphBuilder, x: string) => readonly string[]) => {
      const g = new GraphBuilder();
      const outputs = build(g, g.input('float32', [256]));
      return needOfGraph(layerGraph(g.model(outputs))).valueBytes / 1024;
    };
    const relu = (g: GraphBuilder, from: string) => g.layer('Relu', [from], [256]);
    // The input, the first value, which the sum reads, and the value that each layer replaces.
    const skipped = needOf((g, x) => {
      const first = relu(g, x);
      return [g.layer('Add', [first, relu(g, relu(g, first))], [256])];
    });
    assert.equal(skipped, 3);
    // Two outputs, of which one is read: the last layer has the input, two outputs and its own value.
    assert.equal(needOf((g, x) => [relu(g, x), relu(g, relu(g, x))]), 3); // prettier-ignore
    const unread = needOf((g, x) => {
      const type = { elementType: 'float32', dims: [256] } as const;
      const [first = ''] = g.layers('Split', [x], [type, type, type]);
      return [relu(g, relu(g, first))];
    });
    assert.equal(unread, 4);
    assert.equal(needOf((g, x) => [g.layer('Add', [x, x], [256])]), 2); // prettier-ignore
  });

  test('of a graph is known for a layer that is the last to read very many values', () => {
    const g = new GraphBuilder();
    const type = { elementType: 'float32', dims: [1] } as const;
    const many = g.layers(
      'Split',
      [g.input('float32', [200_000])],
      Array.from({ length: 200_000 }, () => type),
    );
    const of = layerGraph(g.model([g.layer('Concat', many, [200_000])]));
    assert.deepEqual(needOfGraph(of), { weightBytes: 0, valueBytes: 4 * (3 * 200_000 - 1) });
  });

  test('of a layer has a value that it reads twice once', () => {
    const g = new GraphBuilder();
    const sum = g.layer('Add', [g.input('float32', [256]), g.inputs[0] ?? ''], [256]);
    assert.deepEqual(largestLayer(layerGraph(g.model([sum]))), { weightBytes: 0, valueBytes: 2 * 1024 });
  });
});
