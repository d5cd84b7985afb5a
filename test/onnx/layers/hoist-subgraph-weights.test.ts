import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  AttributeProto_AttributeType as AttributeType,
  type GraphProto,
  NodeProto,
} from '../../../src/generated/onnx/onnx.js';
import { hoistSubgraphWeights } from '../../../src/onnx/layers/hoist-subgraph-weights.js';
import type { Model } from '../../../src/onnx/model/model.js';
import { parseModel } from '../../../src/onnx/read/read-model.js';
import { encodeModelToBytes, toNodeProto } from '../../../src/onnx/write/write-model.js';
import { attribute, floats, graph, graphAttribute, integers, model, node, tensorAttribute, value } from '../protos.js';
import { bool, float32, runModel } from '../run-model.js';

const X = [0.25, -1.5, 3, 0.5];
/** Weights that do not occur in known formulas. */
const WEIGHTS = { a: [1.1, 2.3, 3.7, 4.9], b: [-0.7, 0.9, 1.3, -2.1], c: [5.3, -6.1, 7.7, 8.3] };

function constant(name: string, values: number[]): NodeProto {
  return node('Constant', [], [name], [tensorAttribute('value', floats('secret', values, [1, values.length]))]);
}

function branch(rest: Partial<GraphProto>): GraphProto {
  return graph({ output: [value('out', [1, 4])], ...rest });
}

const negating = branch({ node: [node('Neg', ['x'], ['out'])] });

/** A model that passes x to one of two branches. */
function conditional(
  thenBranch: GraphProto,
  elseBranch: GraphProto,
  initializer: GraphProto['initializer'] = [],
): Model {
  const attributes = [graphAttribute('then_branch', thenBranch), graphAttribute('else_branch', elseBranch)];
  const bytes = model({
    node: [node('If', ['flag'], ['chosen'], attributes), node('Identity', ['chosen'], ['y'])],
    input: [value('x', [1, 4]), value('flag', [], 'bool')],
    output: [value('y', [1, 4])],
    initializer,
  });
  return parseModel(bytes, 'conditional');
}

/** The output y of a conditional model, for both values of `flag`. */
async function results(conditionalModel: Model): Promise<(number[] | undefined)[]> {
  const bytes = encodeModelToBytes(conditionalModel);
  const run = async (flag: boolean) => (await runModel(bytes, { x: float32(X), flag: bool(flag) }))['y'];
  return [await run(true), await run(false)];
}

function hasInNodes({ graph: { nodes } }: Model, values: readonly number[]): boolean {
  const bytes = Buffer.concat(nodes.map((inner) => NodeProto.encode(toNodeProto(inner)).finish()));
  return bytes.includes(Buffer.from(Float32Array.from(values).buffer));
}

/** Hoists weights. Checks that the results stay the same, and that none of `weights` is left in a node. */
async function hoisted(before: Model, weights: readonly (readonly number[])[]): Promise<Model> {
  const after = hoistSubgraphWeights(before);
  assert.deepEqual(await results(after), await results(before));
  for (const weight of weights) {
    assert.ok(hasInNodes(before, weight));
    assert.ok(!hasInNodes(after, weight));
  }
  return after;
}

describe('hoisting weights out of subgraphs', () => {
  test('initializers and Constant nodes become initializers of the model', async () => {
    const before = conditional(
      branch({
        initializer: [floats('w', WEIGHTS.a, [1, 4])],
        node: [node('Mul', ['x', 'w'], ['out'])],
        valueInfo: [value('w', [1, 4])],
      }),
      branch({ node: [constant('k', WEIGHTS.b), node('Add', ['x', 'k'], ['out'])] }),
    );

    const { graph: after } = await hoisted(before, [WEIGHTS.a, WEIGHTS.b]);
    assert.deepEqual([...after.initializers.keys()], ['subgraph_weight_0', 'subgraph_weight_1']);

    assert.deepEqual(
      [...after.initializers.values()].map(({ elementType, dims, data }) => {
        assert.ok(data.kind === 'inline');
        return [elementType, dims, [...new Float32Array(data.bytes.slice().buffer)]];
      }),
      [WEIGHTS.a, WEIGHTS.b].map((weight) => ['float32', [1, 4], [...Float32Array.from(weight)]]),
    );
  });

  test('lists of numbers in Constant nodes are weights as well', async () => {
    const attributes = [attribute('value_floats', { floats: WEIGHTS.b, type: AttributeType.FLOATS })];
    const before = conditional(
      branch({ node: [node('Constant', [], ['k'], attributes), node('Add', ['x', 'k'], ['out'])] }),
      negating,
    );

    const after = await hoisted(before, []);

    assert.deepEqual(
      [...after.graph.initializers.values()].map(({ dims }) => dims),
      [[4]],
    );
  });

  test('weights with the same name in two branches stay separate', async () => {
    const multiply = (weight: number[]): GraphProto =>
      branch({ initializer: [floats('w', weight, [1, 4])], node: [node('Mul', ['x', 'w'], ['out'])] });

    const after = await hoisted(conditional(multiply(WEIGHTS.a), multiply(WEIGHTS.b)), [WEIGHTS.a, WEIGHTS.b]);

    assert.equal(after.graph.initializers.size, 2);
  });

  test('a weight that is the output of its branch stays its output', async () => {
    const before = conditional(
      branch({ node: [constant('out', WEIGHTS.a)] }),
      branch({ initializer: [floats('out', WEIGHTS.b, [1, 4])], node: [] }),
    );

    await hoisted(before, [WEIGHTS.a, WEIGHTS.b]);
  });

  test('reaches graphs inside of graphs', async () => {
    const nested = [
      graphAttribute('then_branch', branch({ node: [constant('k', WEIGHTS.b), node('Add', ['w', 'k'], ['out'])] })),
      graphAttribute('else_branch', branch({ node: [constant('k', WEIGHTS.c), node('Mul', ['x', 'k'], ['out'])] })),
    ];
    const outer = branch({
      node: [constant('w', WEIGHTS.a), node('If', ['flag'], ['z'], nested), node('Mul', ['z', 'w'], ['out'])],
    });

    await hoisted(conditional(outer, negating), [WEIGHTS.a, WEIGHTS.b, WEIGHTS.c]);
  });

  test('the body of a Loop loses its weights and keeps its inputs, also an input with the name of a weight', async () => {
    const body = graph({
      input: [value('i', [], 'int64'), value('keep', [], 'bool'), value('w', [1, 4])],
      initializer: [floats('k', WEIGHTS.b, [1, 4])],
      node: [node('Mul', ['w', 'k'], ['next']), node('Identity', ['keep'], ['keep_out'])],
      output: [value('keep_out', [], 'bool'), value('next', [1, 4])],
    });
    const looping = branch({
      initializer: [floats('w', WEIGHTS.a, [1, 4])],
      node: [node('Loop', ['count', '', 'x'], ['z'], [graphAttribute('body', body)]), node('Add', ['z', 'w'], ['out'])],
    });

    await hoisted(conditional(looping, negating, [integers('count', [3n], [])]), [WEIGHTS.a, WEIGHTS.b]);
  });

  test('constants that steer an operator stay', () => {
    const steering = branch({
      initializer: [floats('low', [-1.2345], []), floats('half', [0.5], []), integers('shape', [4n, 1n])],
      node: [
        node('Clip', ['x', 'low'], ['clipped']),
        node('Mul', ['clipped', 'half'], ['halved']),
        node('Reshape', ['halved', 'shape'], ['turned']),
        node('Constant', [], ['back'], [attribute('value_ints', { ints: [1n, 4n], type: AttributeType.INTS })]),
        node('Reshape', ['turned', 'back'], ['out']),
      ],
    });
    const before = conditional(steering, negating);

    assert.deepEqual(hoistSubgraphWeights(before), before);
  });

  test('new names do not collide with existing names at any depth', async () => {
    const before = conditional(
      branch({
        node: [
          constant('subgraph_weight_2', WEIGHTS.a),
          node('Mul', ['x', 'subgraph_weight_2'], ['subgraph_weight_1']),
          node('Add', ['subgraph_weight_1', 'subgraph_weight_0'], ['out']),
        ],
      }),
      branch({ node: [node('Add', ['x', 'subgraph_weight_0'], ['out'])] }),
      [floats('subgraph_weight_0', WEIGHTS.b, [1, 4])],
    );

    const after = await hoisted(before, [WEIGHTS.a]);

    assert.deepEqual([...after.graph.initializers.keys()], ['subgraph_weight_0', 'subgraph_weight_3']);
  });

  test('new names do not collide with names that nothing reads either, and the default of an input is no weight', () => {
    const body = graph({
      input: [value('subgraph_weight_0', [], 'int64'), value('on', [], 'bool'), value('state', [1, 4])],
      initializer: [floats('subgraph_weight_1', WEIGHTS.a, [1, 4]), floats('state', WEIGHTS.b, [1, 4])],
      node: [node('Neg', ['state'], ['subgraph_weight_2']), node('Identity', ['on'], ['on_out'])],
      output: [value('on_out', [], 'bool'), value('subgraph_weight_1', [1, 4])],
    });
    const bytes = model({
      node: [node('Loop', ['count', '', 'x'], ['y'], [graphAttribute('body', body)])],
      input: [value('x', [1, 4]), value('subgraph_weight_3')],
      output: [value('y', [1, 4])],
      initializer: [integers('count', [3n], [])],
    });
    const { nodes, initializers } = hoistSubgraphWeights(parseModel(bytes, 'loop')).graph;
    assert.deepEqual([...initializers.keys()], ['count', 'subgraph_weight_4']);
    assert.deepEqual(
      nodes[0]?.attributes[0]?.g?.initializer.map(({ name }) => name),
      ['state'],
    );
  });

  test('a constant without a value is an error that names the model and the node', () => {
    const lacking = branch({ node: [node('Constant', [], ['out'])] });
    const message = /^conditional: .*out.* does not have exactly one value/;
    assert.throws(() => hoistSubgraphWeights(conditional(lacking, negating)), { code: 'model', message });
  });

  test('a model without subgraphs is left as it is', () => {
    const before = parseModel(
      model({ node: [node('Neg', ['x'], ['y'])], input: [value('x', [1, 4])], output: [value('y', [1, 4])] }),
      'plain',
    );

    assert.equal(hoistSubgraphWeights(before), before);
  });
});

describe('the empty name means that a value is absent', () => {
  const nameless = [floats('', [1.1, 2.3, 3.7, 4.9], [1, 4]), floats('', [5.5], [])];
  const clipping = branch({
    node: [
      node('Constant', [], [''], [tensorAttribute('value', floats('', WEIGHTS.a, [1, 4]))]),
      // Gemm without its third factor.
      node('Clip', ['x', 'most', 'most'], ['clipped']),
      node('Gemm', ['clipped', 'x', ''], ['out']),
    ],
    initializer: [...nameless, floats('most', [0.5], [])],
  });

  test('so that a nameless initializer of a branch does not become an input', () => {
    const hoisted = hoistSubgraphWeights(conditional(clipping, negating));
    assert.deepEqual([...hoisted.graph.initializers.keys()], []);
    const [thenBranch] = hoisted.graph.nodes[0]?.attributes ?? [];
    assert.deepEqual(thenBranch?.g?.node.at(-1)?.input, ['clipped', 'x', '']);
    assert.deepEqual(
      thenBranch.g.initializer.map(({ name }) => name),
      ['most'],
    );
  });

  test('so that nameless initializers of the model are left out', () => {
    const bytes = model({
      node: [node('Clip', ['x', '', 'most'], ['y'])],
      input: [value('x', [1, 4])],
      output: [value('y', [1, 4])],
      initializer: [...nameless, floats('most', [0.5], [])],
    });
    assert.deepEqual([...parseModel(bytes, 'm.onnx').graph.initializers.keys()], ['most']);
  });
});
