import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../../support/property.js';
import {
  cutBrick,
  longestPrivateList,
  operatorsLabel,
  inputRoleOf,
} from '../../../../plugins/dlbricks/bricks/brick.js';
import { lastUses } from '../../../../plugins/dlbricks/cut/last-uses.js';
import { findModelSubgraphs } from '../../../../plugins/dlbricks/cut/layer-cut.js';
import { layerGraph } from '../../../../src/onnx/layers/layer-graph.js';
import type { InputValues } from '../../../../src/onnx/model/model.js';
import { parseModel } from '../../../../src/onnx/read/read-model.js';
import type { TensorValue } from '../../../../src/predictor/tensor-value.js';
import { graph, graphAttribute, node, value } from '../../../onnx/protos.js';
import { generatedModels, layerGraphOf } from '../support/generated-graph.js';
import { GraphBuilder, int64Tensor } from '../support/graph-builder.js';
import { largestDifference, runBenchmark, runBrick, runBrickOn, runWhole } from '../support/runtime.js';

const granularities = fc.integer({ min: 1, max: 6 });

describe('bricks of generated models', () => {
  test('run with made-up weights, and output the values that later layers need, with the types of the model', async () => {
    await fc.assert(
      fc.asyncProperty(generatedModels({ maxSteps: 8 }), granularities, async (generated, granularity) => {
        const graph = layerGraphOf(generated);
        const uses = lastUses(graph);
        for (const sequence of findModelSubgraphs(graph, granularity)) {
          const outputs = await runBrick(graph, sequence, cutBrick(graph, uses, sequence));

          const made = graph.layers.slice(sequence.first, sequence.last + 1).flatMap((layer) => layer.outputs);
          const needed = made.filter((name) => (uses.get(name) ?? -1) > sequence.last);
          assert.deepEqual([...outputs.keys()], needed);
          for (const [name, { elementType, dims }] of outputs) {
            assert.deepEqual({ elementType, dims }, graph.types.get(name));
          }
        }
      }),
      { numRuns: 100 },
    );
  });

  test('compute the same as the whole model if they run one after another with the true weights', async () => {
    await fc.assert(
      fc.asyncProperty(generatedModels(), granularities, async (generated, granularity) => {
        const graph = layerGraphOf(generated);
        const uses = lastUses(graph);
        const expected = await runWhole(generated.model);
        const layerOutputs = new Set(graph.layers.flatMap((layer) => layer.outputs));
        const values = new Map<string, TensorValue>([...expected].filter(([name]) => !layerOutputs.has(name)));

        for (const sequence of findModelSubgraphs(graph, granularity)) {
          const brick = cutBrick(graph, uses, sequence);
          for (const [name, value] of await runBrickOn(values, graph, sequence, brick)) values.set(name, value);
        }

        for (const name of graph.outputs) {
          assert.ok(largestDifference(values.get(name), expected.get(name)) < 1e-4, name);
        }
      }),
      { numRuns: 100 },
    );
  });
});

describe('a brick runs', () => {
  test('where only the inside of a branch has an operator of another domain', async () => {
    const g = new GraphBuilder();
    const x = g.input('float32', [1, 4]);
    const branch = (name: string, domain: string) => {
      const inner = node('Gelu', [x], ['inner'], [], { domain });
      return graphAttribute(name, graph({ node: [inner], output: [value('inner', [1, 4])] }));
    };
    const branches = ['then_branch', 'else_branch'].map((name) => branch(name, 'com.microsoft'));
    const y = g.layer('If', [g.input('bool', [])], [1, 4], branches);
    const opsets = new Map([
      ['', 17],
      ['com.microsoft', 1],
      ['com.example', 3],
    ]);
    const whole = layerGraph({ ...g.model([y]), opsets });

    const brick = cutBrick(whole, lastUses(whole), { first: 0, last: 0 });

    // If of opset 17 is defined in 16; see the list of operators in ONNX's documentation.
    assert.deepEqual(
      [...parseModel(brick.model, 'brick').opsets],
      [
        ['', 16],
        ['com.microsoft', 1],
      ],
    );
    assert.equal((await runBenchmark(brick)).size, 1);
  });

  test('where none of its layers reads a fed input', async () => {
    const g = new GraphBuilder();
    const shape = g.integers('Shape', [g.input('float32', [2, 3])], [2, 3]);
    const filled = g.layer('ConstantOfShape', [shape], [2, 3]);
    const whole = layerGraph(g.model([filled]), g.inferred);

    const outputs = await runBenchmark(cutBrick(whole, lastUses(whole), { first: 1, last: 1 }));

    assert.deepEqual(
      [...outputs.values()].map(({ dims }) => dims),
      [[2, 3]],
    );
  });
});

describe('the inputs of a brick', () => {
  test('show by their names which of them are weights', () => {
    const g = new GraphBuilder();
    const y = g.layer('MatMul', [g.input('float32', [1, 4]), g.weight([4, 4], 4)], [1, 4]);
    const graph = layerGraph(g.model([y]));
    const { inputs } = cutBrick(graph, lastUses(graph), { first: 0, last: 0 });
    assert.deepEqual(
      inputs.map(({ name, role }) => [name, role, inputRoleOf(name)]),
      [
        ['v0', 'activation', 'activation'],
        ['c1', 'weight', 'weight'],
      ],
    );
  });
});

describe('the values that a user gave', () => {
  /** The input of a brick whose model has these values for it. */
  const inputWith = (values: InputValues) => {
    const g = new GraphBuilder();
    const x = g.input('float32', [1, 4]);
    const graph = { ...layerGraph(g.model([g.layer('Relu', [x], [1, 4])])), given: new Map([[x, values]]) };
    const brick = cutBrick(graph, lastUses(graph), { first: 0, last: 0 });
    const [{ isGiven, fill: { low, high, list } } = assert.fail()] = brick.inputs;
    return { isGiven, values: { low, high, list }, longest: longestPrivateList(brick) };
  };
  const listOf = (length: number): InputValues => ({ low: 0, high: 7, list: new Array<number>(length).fill(7) });

  test('are those of the brick, as a range where a list is longer than a suite may show', () => {
    const range = { low: 2, high: 5, list: undefined };
    assert.deepEqual(inputWith(range), { isGiven: true, values: range, longest: 0 });
    assert.deepEqual(inputWith(listOf(1024)), { isGiven: true, values: listOf(1024), longest: 0 });
    assert.deepEqual(inputWith(listOf(1025)), { isGiven: true, values: { ...listOf(0), list: undefined }, longest: 0 });
  });

  test('are too long for a suite only where they are given and longer than 1024', () => {
    const input = (length: number, isGiven: boolean) => {
      const common = { name: 'x', role: 'activation', elementType: 'int64', dims: [length] } as const;
      return { ...common, fill: { ...listOf(length), seed: 1 }, ...(isGiven && { isGiven: true as const }) };
    };
    assert.equal(longestPrivateList({ inputs: [] }), 0);
    assert.equal(longestPrivateList({ inputs: [input(1024, true), input(2000, false)] }), 0);
    assert.equal(longestPrivateList({ inputs: [input(1025, true), input(3000, true), input(9, true)] }), 3000);
  });
});

describe('the file of a brick', () => {
  test('has an opset that takes the types of its constants, and the version 10 of the format', async () => {
    const g = new GraphBuilder();
    const cubed = g.layer('Pow', [g.input('float32', [1, 4]), g.constant(int64Tensor([3, 3, 3, 3]))], [1, 4]);
    const whole = layerGraph(g.model([cubed]));
    const brick = cutBrick(whole, lastUses(whole), { first: 0, last: 0 });
    const { irVersion, opsets } = parseModel(brick.model, 'brick');
    // Pow takes exponents of another type since opset 12. Source: Changelog.md of the ONNX project.
    assert.deepEqual([irVersion, opsets.get('')], [10, 12]);
    assert.equal((await runBenchmark(brick)).size, 1);
  });
});

describe('the label of a brick', () => {
  test('lists its operators; for a long brick, the first four and the number of all', () => {
    assert.equal(operatorsLabel(['Conv', 'Relu']), 'Conv+Relu');
    const many = ['Conv', 'Relu', 'MaxPool', ...Array<string>(16).fill('Conv'), 'Gemm'];
    assert.equal(operatorsLabel(many), 'Conv+Relu+MaxPool+Conv+... (20)');
  });
});
