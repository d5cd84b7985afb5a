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

  test('of a graph has all weights, and the values that are needed at a time', () => {
    // The input is kept. A result may replace a value that ends with its layer.
    assert.deepEqual(needOfGraph(graph()), { weightBytes: 512 * 1024, valueBytes: 2 * 1024 });
  });
});
