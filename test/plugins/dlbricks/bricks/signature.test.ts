import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../../support/property.js';
import { cutBrick } from '../../../../plugins/dlbricks/bricks/brick.js';
import { lastUses } from '../../../../plugins/dlbricks/cut/last-uses.js';
import { decomposeModel } from '../../../../plugins/dlbricks/bricks/unique-bricks.js';
import { layerGraph } from '../../../../src/onnx/layers/layer-graph.js';
import type { Model, Tensor } from '../../../../src/onnx/model/model.js';
import { float, graph, graphAttribute, int, ints, node, value } from '../../../onnx/protos.js';
import { generatedModels, type GeneratedModel, layerGraphOf } from '../support/generated-graph.js';
import { floatTensor, GraphBuilder, int64Tensor } from '../support/graph-builder.js';
import { renamed } from '../support/rename-model.js';

const DIMS = [1, 4, 6, 6];

type Build = (g: GraphBuilder, x: string) => void;

/** The signature of a whole small model as one brick; x is its input. */
function signatureOf(build: Build, change: (model: Model) => Model = (model) => model): string {
  const g = new GraphBuilder();
  build(g, g.input('float32', DIMS));
  const whole = layerGraph(change(g.model(g.ends())), g.inferred);
  return cutBrick(whole, lastUses(whole), { first: 0, last: whole.layers.length - 1 }).signature;
}

function differ(what: string, one: Build, other: Build): void {
  test(what, () => assert.notEqual(signatureOf(one), signatureOf(other)));
}

function agree(what: string, one: Build, other: Build): void {
  test(what, () => assert.equal(signatureOf(one), signatureOf(other)));
}

function withOtherWeights({ model, inferred }: GeneratedModel): GeneratedModel {
  const other = (tensor: Tensor): Tensor => {
    const { elementType, dims, data } = tensor;
    if (elementType !== 'float32' || dims.length === 0 || data.kind !== 'inline') return tensor;
    return floatTensor(
      Array.from({ length: data.bytes.length / 4 }, (_, i) => 0.123 + i),
      dims,
    );
  };
  const initializers = new Map([...model.graph.initializers].map(([name, tensor]) => [name, other(tensor)]));
  return { inferred, model: { ...model, graph: { ...model.graph, initializers } } };
}

describe('the signatures of all bricks of a model, and the order of its bricks, stay', () => {
  const stay = (what: string, change: (generated: GeneratedModel) => GeneratedModel): void => {
    test(what, () => {
      fc.assert(
        fc.property(generatedModels(), fc.integer({ min: 1, max: 6 }), (generated, granularity) => {
          const before = decomposeModel('model', layerGraphOf(generated), granularity);
          const after = decomposeModel('model', layerGraphOf(change(generated)), granularity);
          assert.deepEqual(after.recipe, before.recipe);
          assert.deepEqual(after.bricks, before.bricks);
        }),
      );
    });
  };
  stay('when all names change, and attributes and constants are listed in another order', renamed);
  stay('when weights have other values', withOtherWeights);
});

describe('one signature for', () => {
  agree(
    'attributes in any order',
    (g, x) => g.layer('MaxPool', [x], [1, 4, 3, 3], [ints('kernel_shape', [2, 2]), ints('strides', [2, 2])]),
    (g, x) => g.layer('MaxPool', [x], [1, 4, 3, 3], [ints('strides', [2, 2]), ints('kernel_shape', [2, 2])]),
  );

  const branch = (name: string, opType: string, inner: string, read: string) =>
    graphAttribute(name, graph({ node: [node(opType, [read], [inner])], output: [value(inner, DIMS)] }));
  const conditional =
    (inner: readonly [string, string], order: (branches: ReturnType<typeof branch>[]) => typeof branches): Build =>
    (g, x) => {
      const flag = g.input('bool', []);
      const other = g.layer('Neg', [x], DIMS);
      const branches = [branch('then_branch', 'Relu', inner[0], x), branch('else_branch', 'Abs', inner[1], other)];
      g.layer('If', [flag], DIMS, order(branches));
    };
  agree(
    'the branches of an If in any order, although they read different values',
    conditional(['a', 'b'], (branches) => branches),
    conditional(['a', 'b'], (branches) => branches.reverse()),
  );
  agree(
    'branches that use the same names for their values and branches that do not',
    conditional(['a', 'a'], (branches) => branches),
    conditional(['a', 'b'], (branches) => branches),
  );

  agree(
    'learned scalars of any value',
    (g, x) => g.layer('Mul', [x, g.constant(floatTensor([0.7123], []))], DIMS),
    (g, x) => g.layer('Mul', [x, g.constant(floatTensor([0.9871], []))], DIMS),
  );
  agree(
    'weights that the file has and weights that it computes',
    (g, x) => g.layer('MatMul', [x, g.weight([6, 6], 6)], DIMS),
    (g, x) => g.layer('MatMul', [x, g.layer('Transpose', [g.weight([6, 6], 6)], [6, 6])], DIMS),
  );
  test('ai.onnx and the empty domain, which are the same, in subgraphs as well', () => {
    const build =
      (domain: string): Build =>
      (g, x) => {
        const inner = [node('Relu', [x], ['inner'], [], { domain })];
        const attribute = (name: string) =>
          graphAttribute(name, graph({ node: inner, output: [value('inner', DIMS)] }));
        g.layers(
          'If',
          [g.input('bool', [])],
          [{ elementType: 'float32', dims: DIMS }],
          [attribute('else_branch'), attribute('then_branch')],
          domain,
        );
      };
    assert.equal(signatureOf(build('ai.onnx')), signatureOf(build('')));
  });

  const withOpsets = (build: Build, ...opsets: readonly [string, number][]): string => {
    return signatureOf(build, (model) => ({ ...model, opsets: new Map(opsets) }));
  };
  test('opsets that the file lists in any order', () => {
    const build: Build = (g, x) => {
      const type = { elementType: 'float32', dims: DIMS } as const;
      const [gelu = ''] = g.layers('Gelu', [x], [type], [], 'com.microsoft');
      g.layer('Relu', [gelu], DIMS);
    };
    assert.equal(withOpsets(build, ['com.microsoft', 1], ['', 17]), withOpsets(build, ['', 17], ['com.microsoft', 1]));
  });
  test('models with and without the opset of a domain that no layer uses', () => {
    const build: Build = (g, x) => g.layer('Relu', [x], DIMS);
    assert.equal(withOpsets(build, ['', 17], ['ai.onnx.ml', 3], ['com.microsoft', 1]), withOpsets(build, ['', 17]));
  });

  test('the same layer at any place in a model', () => {
    const g = new GraphBuilder();
    let x = g.input('float32', DIMS);
    for (let i = 0; i < 5; i++) x = g.layer('Relu', [x], DIMS);
    const { recipe, bricks } = decomposeModel('model', layerGraph(g.model([x])), 1);
    assert.deepEqual([recipe.layers, recipe.sequences, bricks.length], [5, [0, 0, 0, 0, 0], 1]);
  });
});

describe('different signatures for', () => {
  differ(
    'another operator',
    (g, x) => g.layer('Relu', [x], DIMS),
    (g, x) => g.layer('Sigmoid', [x], DIMS),
  );
  const transposed =
    (...attributes: Parameters<GraphBuilder['layer']>[3][]): Build =>
    (g, x) =>
      g.layer('Transpose', [x], DIMS, attributes.flat() as never);
  differ(
    "another attribute's value",
    transposed([ints('perm', [0, 1, 2, 3])]),
    transposed([ints('perm', [0, 1, 3, 2])]),
  );
  differ('a missing attribute', transposed([ints('perm', [0, 1, 2, 3])]), transposed());
  differ(
    "another float attribute's value",
    (g, x) => g.layer('LeakyRelu', [x], DIMS, [float('alpha', 0.01)]),
    (g, x) => g.layer('LeakyRelu', [x], DIMS, [float('alpha', 0.02)]),
  );
  differ(
    'another element type',
    (g) => g.layer('Relu', [g.input('float32', DIMS)], DIMS),
    (g) => g.layers('Relu', [g.input('float64', DIMS)], [{ elementType: 'float64', dims: DIMS }]),
  );
  differ(
    'another shape of an input',
    (g) => g.layer('GlobalAveragePool', [g.input('float32', [1, 4, 6, 6])], [1, 4, 1, 1]),
    (g) => g.layer('GlobalAveragePool', [g.input('float32', [1, 4, 6, 8])], [1, 4, 1, 1]),
  );
  differ(
    'another shape of a weight',
    (g, x) => g.layer('Conv', [x, g.weight([8, 4, 1, 1], 4)], [1, 8, 6, 6]),
    (g, x) => g.layer('Conv', [x, g.weight([8, 4, 3, 3], 4)], [1, 8, 6, 6]),
  );
  differ(
    'a bias or none',
    (g, x) => g.layer('Conv', [x, g.weight([8, 4, 1, 1], 4)], [1, 8, 6, 6]),
    (g, x) => g.layer('Conv', [x, g.weight([8, 4, 1, 1], 4), g.weight([8], 6)], [1, 8, 6, 6]),
  );
  differ(
    'a weight or an activation of the same shape',
    (g, x) => g.layer('MatMul', [x, g.weight([6, 6], 6)], DIMS),
    (g, x) => g.layer('MatMul', [x, g.input('float32', [6, 6])], DIMS),
  );
  differ(
    'an inner edge to another layer',
    (g, x) => {
      const relu = g.layer('Relu', [x], DIMS);
      g.layer('Add', [relu, g.layer('Neg', [relu], DIMS)], DIMS);
    },
    (g, x) => g.layer('Add', [g.layer('Relu', [x], DIMS), g.layer('Neg', [x], DIMS)], DIMS),
  );
  differ(
    'operands in another order',
    (g, x) => g.layer('Sub', [x, g.layer('Relu', [x], DIMS)], DIMS),
    (g, x) => g.layer('Sub', [g.layer('Relu', [x], DIMS), x], DIMS),
  );
  differ(
    'a value read twice or two values',
    (g, x) => g.layer('Add', [x, x], DIMS),
    (g, x) => g.layer('Add', [x, g.input('float32', DIMS)], DIMS),
  );
  differ(
    'a weight that two layers share or two weights',
    (g, x) => {
      const weight = g.weight([6, 6], 6);
      g.layer('MatMul', [g.layer('MatMul', [x, weight], DIMS), weight], DIMS);
    },
    (g, x) => g.layer('MatMul', [g.layer('MatMul', [x, g.weight([6, 6], 6)], DIMS), g.weight([6, 6], 6)], DIMS),
  );
  test('a value that leaves the sequence or does not', () => {
    const g = new GraphBuilder();
    const relu = g.layer('Relu', [g.input('float32', DIMS)], DIMS);
    const negated = g.layer('Neg', [relu], DIMS);
    const [one, other] = [[negated], [relu, negated]].map((outputs) => {
      return decomposeModel('model', layerGraph(g.model(outputs)), 2).recipe.bricks;
    });
    assert.notDeepEqual(one, other);
  });

  differ(
    "a Reshape's shape",
    (g, x) => g.layer('Reshape', [x, g.constant(int64Tensor([1, 4, 36]))], [1, 4, 36]),
    (g, x) => g.layer('Reshape', [x, g.constant(int64Tensor([1, 36, 4]))], [1, 36, 4]),
  );
  differ(
    "a Clip's bounds",
    (g, x) => g.layer('Clip', [x, g.constant(floatTensor([-0.77], []))], DIMS),
    (g, x) => g.layer('Clip', [x, g.constant(floatTensor([-0.78], []))], DIMS),
  );
  const sliced =
    (axis: number): Build =>
    (g, x) =>
      g.layer('Slice', [x, ...[0, 6, axis].map((at) => g.constant(int64Tensor([at])))], DIMS);
  differ("a Slice's axes", sliced(2), sliced(3));
  const gathered =
    (...indices: number[]): Build =>
    (g, x) =>
      g.layer('Gather', [x, g.constant(int64Tensor(indices))], [1, 4, 2, 6], [int('axis', 2)]);
  differ("a Gather's indices", gathered(0, 1), gathered(0, 5));
  const scaled =
    (factor: number): Build =>
    (g, x) =>
      g.layer('Mul', [x, g.constant(floatTensor([factor], []))], DIMS);
  differ('a scalar from a formula or a learned one: 0.5', scaled(0.5), scaled(0.7123));
  differ('a scalar from a formula or a learned one: the square root of 2', scaled(Math.SQRT2), scaled(0.7123));
  differ('two scalars from formulas', scaled(0.5), scaled(0.25));
  test('an integer that follows from shapes and comes from another brick', () => {
    const target = (channels: number) => {
      const g = new GraphBuilder();
      const x = g.input('float32', DIMS);
      const shape = g.integers('Shape', [x], [1, 4, 6, 6]);
      const turned = g.integers('Mul', [shape, g.constant(int64Tensor([1, channels, 1, 1]))], [1, 4 * channels, 6, 6]);
      const y = g.layer('Expand', [g.input('float32', [1, 1, 6, 6]), turned], [1, 4 * channels, 6, 6]);
      return decomposeModel('model', layerGraph(g.model([y]), g.inferred), 1).recipe.bricks[2]?.signature;
    };
    assert.notEqual(target(1), target(2));
  });

  test('an operator that became another one with a newer opset', () => {
    const softmax: Build = (g, y) => g.layer('Softmax', [y], DIMS, [int('axis', 1)]);
    const older = signatureOf(softmax, (current) => ({ ...current, opsets: new Map([['', 12]]) }));
    assert.notEqual(older, signatureOf(softmax));
  });
  const customSoftmax =
    (axis: number): Build =>
    (g, x) =>
      g.layers('Softmax', [x], [{ elementType: 'float32', dims: DIMS }], [int('axis', axis)], 'com.example');
  differ('an axis from either end, of an operator that nobody knows', customSoftmax(3), customSoftmax(-1));
  test('another domain', () => {
    const opsets = new Map([
      ['', 17],
      ['com.microsoft', 1],
    ]);
    const gelu =
      (domain: string): Build =>
      (g, x) =>
        g.layers('Gelu', [x], [{ elementType: 'float32', dims: DIMS }], [], domain);
    const [one, other] = ['', 'com.microsoft'].map((domain) =>
      signatureOf(gelu(domain), (current) => ({ ...current, opsets })),
    );
    assert.notEqual(one, other);
  });
});
