import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../../support/property.js';
import { computeFootprint } from '../../../../plugins/dlbricks/bricks/unique-bricks.js';
import { computeByteLength, elementCount } from '../../../../src/onnx/model/element-type.js';
import { hoistSubgraphWeights } from '../../../../src/onnx/layers/hoist-subgraph-weights.js';
import { type LayerGraph, layerGraph } from '../../../../src/onnx/layers/layer-graph.js';
import type { TensorType } from '../../../../src/onnx/model/model.js';
import { graph, graphAttribute, node, value } from '../../../onnx/protos.js';
import { generatedModels, layerGraphOf } from '../support/generated-graph.js';
import { GraphBuilder } from '../support/graph-builder.js';

/** Bytes of a float list of one row of four. */
const ROW = 16;

function footprintIn(g: GraphBuilder, ...outputs: readonly string[]): number {
  return computeFootprint(layerGraph(g.model(outputs)));
}

function relu(g: GraphBuilder, x: string): string {
  return g.layer('Relu', [x], [1, 4]);
}

describe('the footprint of a model', () => {
  test('counts for a chain only activations that are alive at the same time: the input and the output of a layer', () => {
    const g = new GraphBuilder();
    let x = g.input('float32', [1, 4]);
    for (let layer = 0; layer < 9; layer++) x = relu(g, x);
    assert.equal(footprintIn(g, x), 2 * ROW);
  });

  test('counts activations until their last reader, and outputs to the end', () => {
    const branching = (shortcut: boolean): number => {
      const g = new GraphBuilder();
      const x = g.input('float32', [1, 4]);
      const last = relu(g, relu(g, relu(g, x)));
      return footprintIn(g, g.layer('Add', [last, shortcut ? x : last], [1, 4]));
    };
    assert.deepEqual([branching(false), branching(true)], [2 * ROW, 3 * ROW]);

    const g = new GraphBuilder();
    const first = relu(g, g.input('float32', [1, 4]));
    const last = relu(g, relu(g, first));
    assert.equal(footprintIn(g, last), 2 * ROW);
    assert.equal(footprintIn(g, first, last), 3 * ROW);
  });

  test('counts every weight once, regardless of how often it is read', () => {
    const withWeights = (shared: boolean): number => {
      const g = new GraphBuilder();
      const x = g.input('float32', [1, 4]);
      const weight = g.weight([4, 4], 4);
      const inner = g.layer('MatMul', [x, weight], [1, 4]);
      return footprintIn(g, g.layer('MatMul', [inner, shared ? weight : g.weight([4, 4], 4)], [1, 4]));
    };
    assert.deepEqual([withWeights(true), withWeights(false)], [6 * ROW, 10 * ROW]);
  });

  test('counts only the rows of a table that are looked up, unless something reads all of it', () => {
    const lookingUp = (rows: number, tied: boolean): number => {
      const g = new GraphBuilder();
      const table = g.weight([rows, 4], 4);
      const found = g.layer('Gather', [table, g.input('int64', [2])], [2, 4]);
      return footprintIn(g, tied ? g.layer('Gemm', [found, table], [2, rows]) : found);
    };
    // Two rows of the table, the two numbers that choose them, and the two rows of the output.
    assert.equal(lookingUp(1000, false), 2 * ROW + 2 * 8 + 2 * ROW);
    // A table of one row is read twice, but is no more than that row.
    assert.equal(lookingUp(1, false), ROW + 2 * 8 + 2 * ROW);
    // All rows; two rows, and for each a number per row of the table.
    assert.equal(lookingUp(1000, true), 1000 * ROW + 2 * ROW + 2 * 1000 * 4);
  });

  for (const operator of ['Gather', 'GatherElements', 'GatherND']) {
    test(`counts no more of the first input of ${operator} than the size of the output`, () => {
      const g = new GraphBuilder();
      const found = g.layer(operator, [g.weight([1000, 4], 4), g.input('int64', [2])], [2, 4]);
      assert.equal(footprintIn(g, found), 2 * ROW + 2 * 8 + 2 * ROW);
    });
  }

  test('counts the whole first input of other operators', () => {
    const g = new GraphBuilder();
    const product = g.layer('MatMul', [g.weight([1000, 4], 4), g.input('float32', [4, 1])], [1000, 1]);
    assert.equal(footprintIn(g, product), 1000 * ROW + ROW + 1000 * 4);
  });

  test('counts the weights that only a branch reads', () => {
    const withBranch = (operand: string, weightBytes: number): void => {
      const g = new GraphBuilder();
      const x = g.input('float32', [1, 4]);
      const weight = g.weight([1, 4], 4);
      const branches = ['then_branch', 'else_branch'].map((name) => {
        const inner = node('Add', [x, operand === 'weight' ? weight : x], ['inner']);
        return graphAttribute(name, graph({ node: [inner], output: [value('inner', [1, 4])] }));
      });
      const y = g.layer('If', [g.input('bool', [])], [1, 4], branches);
      const footprint = computeFootprint(layerGraph(hoistSubgraphWeights(g.model([y]))));
      // The input, the truth value, and the output.
      assert.equal(footprint, ROW + 1 + ROW + weightBytes);
    };
    withBranch('weight', ROW);
    withBranch('input', 0);
  });

  test('is at least the weights and activations of each layer, and at most those of the whole model', () => {
    fc.assert(
      fc.property(generatedModels(), (generated) => {
        const whole = layerGraphOf(generated);
        const footprint = computeFootprint(whole);
        assert.ok(footprint <= everything(whole), `${footprint} of ${everything(whole)}`);
        for (const { inputs, outputs } of whole.layers) {
          const read = new Set([...inputs, ...outputs].filter((name) => isNeeded(whole, name)));
          const touched = [...read].reduce((sum, name) => sum + bytesOf(whole.types.get(name)), 0);
          assert.ok(footprint >= touched, `${footprint} is less than ${touched}`);
        }
      }),
    );
  });
});

function bytesOf(type: TensorType | undefined): number {
  return type === undefined ? 0 : computeByteLength(type.elementType, elementCount(type.dims));
}

/** Whether an activation is read by a layer, or is an output. */
function isNeeded({ layers, outputs }: LayerGraph, name: string): boolean {
  return outputs.includes(name) || layers.some(({ inputs }) => inputs.includes(name));
}

function everything({ types, constants }: LayerGraph): number {
  return [...types.values(), ...constants.values()].reduce((sum, type) => sum + bytesOf(type), 0);
}
