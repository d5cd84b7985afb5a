import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type DecomposedModel, decomposeKernels } from '../../../../plugins/dlbricks/bricks/unique-bricks.js';
import { sharingAmong } from '../../../../plugins/dlbricks/sharing/sharing-result.js';
import { layerGraph } from '../../../../src/onnx/layers/layer-graph.js';
import { SYSTEM } from '../../../store/sample-measurement.js';
import { GraphBuilder } from '../support/graph-builder.js';

const DIMS = [1, 16, 32, 32];

type Stem = (g: GraphBuilder) => string;

/** One convolution. */
const plain: Stem = (g) => g.layer('Conv', [g.input('float32', [1, 3, 32, 32]), g.weight([16, 3, 1, 1], 3)], DIMS);

/** Another input, another order of constants, more layers, and an output that three layers read. */
const longer: Stem = (g) => {
  const shift = g.weight([1], 4);
  const weight = g.weight([16, 8, 1, 1], 8);
  const x = g.layer('Add', [g.input('float32', [1, 8, 32, 32]), shift], [1, 8, 32, 32]);
  return g.layer('Tanh', [g.layer('Conv', [x, weight], DIMS)], DIMS);
};

/** A stem, three residual blocks, and a last layer of its own. */
function decomposedModel(name: string, stem: Stem, last: string): DecomposedModel {
  const g = new GraphBuilder();
  let x = stem(g);
  for (let block = 0; block < 3; block++) {
    const inner = g.layer('Relu', [g.layer('Conv', [x, g.weight([16, 16, 1, 1], 16)], DIMS)], DIMS);
    x = g.layer('Add', [inner, x], DIMS);
  }
  const graph = layerGraph(g.model([g.layer(last, [x], DIMS)]));
  return decomposeKernels(name, graph, 1, {
    layers: graph.layers.length,
    ends: { inputs: 1, outputs: 1 },
    measured: 'together',
    surroundings: { modelWeightBytes: 0, cacheBytes: 0 },
  });
}

describe('models with the same block behind different stems', () => {
  const one = decomposedModel('one', plain, 'Sigmoid');
  const other = decomposedModel('other', longer, 'Softsign');

  test('share the bricks of the block, and nothing else', () => {
    const operatorsOf = ({ recipe }: DecomposedModel, shared: DecomposedModel): readonly string[] => {
      const signatures = new Set(shared.recipe.bricks.map(({ signature }) => signature));
      return recipe.bricks.filter(({ signature }) => signatures.has(signature)).flatMap(({ operators }) => operators);
    };
    assert.deepEqual(operatorsOf(one, other), ['Conv', 'Relu', 'Add']);
    assert.deepEqual(operatorsOf(other, one).toSorted(), ['Add', 'Conv', 'Relu']);
  });

  test('need each of them once, in the same context', () => {
    const { models, unique } = sharingAmong([one, other], SYSTEM, new Map());
    // Nine of eleven kernels, and nine of thirteen.
    assert.deepEqual(
      models.map((model) => model.covered_by_others_percent),
      [900 / 11, 900 / 13],
    );
    assert.equal(unique, one.bricks.length + other.bricks.length - 3);
  });
});
