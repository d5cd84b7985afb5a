import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CUTS, cutSequences } from '../../../../plugins/dlbricks/cut/cut.js';
import { cutAtFewestValues } from '../../../../plugins/dlbricks/cut/kernel-cut.js';
import { findModelSubgraphs } from '../../../../plugins/dlbricks/cut/layer-cut.js';
import { layerGraph } from '../../../../src/onnx/layers/layer-graph.js';
import { GraphBuilder } from '../support/graph-builder.js';

test('a graph is cut at its kernels or at its layers', () => {
  const g = new GraphBuilder();
  const ways = [0, 1].map(() => g.layer('Neg', [g.layer('Relu', [g.input('float32', [1, 4])], [1, 4])], [1, 4]));
  const graph = layerGraph(g.model([g.layer('Add', ways, [1, 4])]));
  // Two parallel branches are not connected. Only the layer cut requires connected layers.
  const kernels = cutAtFewestValues(graph, 4);
  const layers = findModelSubgraphs(graph, 4);
  assert.notDeepEqual(kernels, layers);
  assert.deepEqual(
    CUTS.map((cut) => [cut, cutSequences(graph, cut, 4)]),
    [
      ['kernel', kernels],
      ['layer', layers],
    ],
  );
});
