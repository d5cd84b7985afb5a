import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findMadeUpValues, madeUpConstants, steeringByGiven } from '../../../../plugins/dlbricks/cut/made-up-values.js';
import type { GraphProto } from '../../../../src/generated/onnx/onnx.js';
import { type InferredValue, layerGraph, type LayerGraph } from '../../../../src/onnx/layers/layer-graph.js';
import { parseModel } from '../../../../src/onnx/read/read-model.js';
import { floats, graph, graphAttribute, int, integers, model, node, tensor, value } from '../../../onnx/protos.js';

interface GraphParts extends Partial<GraphProto> {
  /** Dimensions of inner values; [2, 3] by default. */
  readonly dims?: Readonly<Record<string, readonly number[]>>;
}

const INPUT = [value('x', [2, 3])];

function graphOf(nodes: GraphProto['node'], { dims = {}, input = INPUT, ...rest }: GraphParts = {}): LayerGraph {
  const output = [value(nodes.at(-1)?.output[0] ?? '', undefined)];
  const parsed = parseModel(model({ node: nodes, input, output, ...rest }), 'model');
  const names = nodes.flatMap((one) => one.output);
  const types = names.map((name): [string, InferredValue] => {
    return [name, { elementType: 'float32', dims: dims[name] ?? [2, 3] }];
  });
  return layerGraph(parsed, new Map(types));
}

/** The operators that read made-up values, and the operators of all layers that depend on them. */
function found(followed: LayerGraph): readonly [readonly string[], readonly string[]] | undefined {
  const madeUp = findMadeUpValues(followed);
  return (
    madeUp && [
      madeUp.operators.map(({ operator, count }) => `${count} ${operator}`),
      [...madeUp.layers].map((index) => followed.layers[index]?.opType ?? ''),
    ]
  );
}

/** Boxes and scores by made-up weights, and a suppression. */
const DETECTOR = [
  node('MatMul', ['x', 'weight'], ['boxes']),
  node('Sigmoid', ['x'], ['scores']),
  node('NonMaxSuppression', ['boxes', 'scores', 'most'], ['chosen']),
  node('Gather', ['boxes', 'chosen'], ['kept']),
  node('Relu', ['kept'], ['y']),
];
const DETECTING = { initializer: [floats('weight', [1.1, 2.2, 3.3], [3, 1]), integers('most', [100n])] };

describe('layers whose work or sizes depend on made-up values', () => {
  test('are a non-maximum suppression of computed boxes, and all layers after it', () => {
    assert.deepEqual(found(graphOf(DETECTOR, DETECTING)), [
      ['1 NonMaxSuppression'],
      ['NonMaxSuppression', 'Gather', 'Relu'],
    ]);
  });

  test('are none if all values come from one run with the weights of the file, but with other weights', () => {
    const detector = graphOf(DETECTOR, DETECTING);
    const values = new Map(['boxes', 'scores'].map((name) => [name, { low: 0, high: 1 }]));
    assert.equal(found({ ...detector, ofRun: { weights: 'own', values } }), undefined);
    assert.ok(found({ ...detector, ofRun: { weights: 'made up', values } }));
    values.delete('scores');
    assert.ok(found({ ...detector, ofRun: { weights: 'own', values } }));
  });

  test('are none if a user gives the values', () => {
    const nonZero = graphOf([node('NonZero', ['x'], ['y'])]);
    assert.deepEqual(found(nonZero), [['1 NonZero'], ['NonZero']]);
    assert.equal(found({ ...nonZero, given: new Map([['x', { low: 1, high: 1 }]]) }), undefined);
  });

  test('are those that read a constant of a class, whose numbers are made up, too', () => {
    const initializer = [floats('mask', [0.3, -95.5], [2, 1])];
    const nonZero = graphOf([node('Add', ['x', 'mask'], ['sum']), node('NonZero', ['sum'], ['y'])], { initializer });
    const given = new Map(['x', 'mask'].map((name) => [name, { low: 0, high: 1 }]));
    assert.deepEqual(found({ ...nonZero, given }), [['1 NonZero'], ['NonZero']]);
  });

  test('are those that read random numbers, until a run gives these', () => {
    for (const [operator, inputs] of [
      ['RandomUniform', []],
      ['RandomNormalLike', ['c']],
    ] as const) {
      const nodes = [node(operator, [...inputs], ['random']), node('NonZero', ['random'], ['y'])];
      const random = graphOf(nodes, { initializer: [integers('c', [1n])] });
      assert.deepEqual(found(random), [['1 NonZero'], ['NonZero']]);
      const values = new Map([['random', { low: 0, high: 1 }]]);
      assert.equal(found({ ...random, ofRun: { weights: 'own', values } }), undefined);
    }
  });

  test('are none if sizes come from constants or shapes alone', () => {
    const nodes = [
      node('Shape', ['x'], ['shape']),
      node('Gather', ['shape', 'first'], ['size']),
      node('Range', ['zero', 'size', 'one'], ['positions']),
      node('Expand', ['x', 'shape'], ['wide']),
      node('TopK', ['wide', 'k'], ['largest', 'at']),
      node('Reshape', ['largest', 'shape'], ['y']),
    ];
    const initializer = [
      integers('first', [0n], []),
      integers('zero', [0n], []),
      integers('one', [1n], []),
      integers('k', [2n]),
    ];
    assert.equal(found(graphOf(nodes, { initializer })), undefined);
  });

  test('are those that take a size from the shape of such a layer', () => {
    const nodes = [
      node('NonZero', ['x'], ['at']),
      node('Shape', ['at'], ['shape']),
      node('ConstantOfShape', ['shape'], ['zeros']),
      node('Relu', ['x'], ['other']),
      node('Add', ['zeros', 'other'], ['y']),
    ];
    assert.deepEqual(found(graphOf(nodes)), [
      ['1 NonZero', '1 ConstantOfShape'],
      ['NonZero', 'Shape', 'ConstantOfShape', 'Add'],
    ]);
  });

  test('end where a value is a scalar', () => {
    const nodes = [
      node('NonZero', ['x'], ['at']),
      node('ReduceSum', ['at'], ['count'], [int('keepdims', 0)]),
      node('Mul', ['x', 'count'], ['y']),
    ];
    assert.deepEqual(found(graphOf(nodes, { dims: { count: [] } })), [['1 NonZero'], ['NonZero', 'ReduceSum']]);
  });

  test('are a TopK with a computed count, an If with a computed condition, and a Loop with an assumed trip count', () => {
    const input = [...INPUT, value('n', [1], 'int64')];
    assert.deepEqual(found(graphOf([node('TopK', ['x', 'n'], ['y', 'i'])], { input }))?.[0], ['1 TopK']);
    assert.deepEqual(found(graphOf([node('If', ['n'], ['y'])], { input }))?.[0], ['1 If']);
    assert.deepEqual(found(graphOf([node('Loop', ['n', '', 'x'], ['y'])], { input }))?.[0], ['1 Loop']);
  });

  test('are a Loop with an assumed trip count also after a run, which assumed the count too, until a user gives it', () => {
    const input = [...INPUT, value('n', [], 'int64'), value('more', [], 'int64')];
    const nodes = [
      node('Add', ['n', 'more'], ['trips']),
      node('Loop', ['trips', '', 'x'], ['looped']),
      node('Range', ['trips', 'more', 'n'], ['places']),
      node('Gather', ['looped', 'places'], ['y']),
    ];
    const count = { low: 8, high: 8 };
    const values = new Map(['n', 'more', 'trips', 'places'].map((name) => [name, count]));
    const ran = { ...graphOf(nodes, { input, dims: { trips: [] } }), ofRun: { weights: 'own' as const, values } };
    assert.deepEqual(found(ran), [
      ['1 Loop', '1 Range'],
      ['Loop', 'Range', 'Gather'],
    ]);
    const given = new Map(['n', 'more'].map((name) => [name, count]));
    assert.equal(found({ ...ran, given }), undefined);
  });

  test('are not those that use the whole sequence by a given mask, but those that compute lengths with weights', () => {
    const mask = [...INPUT, value('mask', [1, 8], 'int64')];
    const lstm = node('LSTM', ['x', 'w', 'r', '', 'lengths'], ['y']);
    const initializer = [floats('w', [1.1]), floats('r', [1.1])];
    const ofMask = graphOf([node('ReduceSum', ['mask'], ['lengths']), lstm], { input: mask, initializer });
    assert.equal(found(ofMask), undefined);
    const computed = graphOf([node('Mul', ['mask', 'w'], ['lengths']), lstm], { input: mask, initializer });
    assert.deepEqual(found(computed), [['1 LSTM'], ['LSTM']]);
  });

  test('are named with what selects inside of their branches', () => {
    const suppression = node('NonMaxSuppression', ['x', 'x'], ['chosen']);
    const branch = graph({ node: [suppression], output: [value('chosen')] });
    const either = graphOf([node('If', ['x'], ['y'], [graphAttribute('then_branch', branch)])]);
    assert.deepEqual(found(either)?.[0], ['1 If (NonMaxSuppression)']);
  });
});

test('values that any run makes, because inputs are given, do not depend on weights or on other inputs', () => {
  const input = [...INPUT, value('n', [], 'int64'), value('m', [], 'int64')];
  const nodes = [
    node('Shape', ['x'], ['shape']),
    node('Add', ['n', 'two'], ['trips']),
    node('Loop', ['trips', '', 'x'], ['looped']),
    node('Add', ['n', 'm'], ['other']),
    node('Loop', ['other', '', 'looped'], ['again']),
    node('Mul', ['x', 'weight'], ['scores']),
    node('NonZero', ['scores'], ['at']),
    node('Expand', ['at', 'shape'], ['wide']),
    node('Add', ['wide', 'again'], ['y']),
  ];
  const initializer = [integers('two', [2n], []), floats('weight', [1.1, 2.2, 3.3], [3])];
  const loops = graphOf(nodes, { input, initializer });
  assert.deepEqual([...steeringByGiven(loops)], []);
  const given = new Map(['x', 'n'].map((name) => [name, { low: 3, high: 3 }]));
  assert.deepEqual([...steeringByGiven({ ...loops, given })], ['trips']);
});

describe('constants that follow from made-up ones', () => {
  const places = [node('NonZero', ['chosen'], ['pairs']), node('Squeeze', ['pairs', 'first'], ['at'])];
  const initializerOf = (count: number) => [
    tensor('chosen', 'bool', [count], { rawData: new Uint8Array(count).fill(1, 0, 2) }),
    integers('first', [0n]),
  ];
  const constantsOf = (nodes: GraphProto['node'], initializer: GraphProto['initializer']) =>
    madeUpConstants(parseModel(model({ node: nodes, input: INPUT, output: [value('y')], initializer }), 'model'));

  test('are the places of more truth values than are kept, and what reads these places depends on made-up values', () => {
    const nodes = [...places, node('Gather', ['x', 'at'], ['some']), node('Relu', ['some'], ['y'])];
    const madeUp = constantsOf(nodes, initializerOf(1025));
    assert.deepEqual(madeUp, { contents: ['pairs', 'at'], sizes: ['pairs', 'at'] });
    const followed = graphOf(nodes, { initializer: initializerOf(1025) });
    assert.deepEqual(found({ ...followed, madeUp }), [['1 Gather'], ['Gather', 'Relu']]);
    assert.deepEqual(constantsOf(nodes, initializerOf(1024)), { contents: [], sizes: [] });
  });

  test('are sizes, which decide those of a layer', () => {
    const nodes = [node('ReduceMax', ['table'], ['size']), node('Expand', ['x', 'size'], ['y'])];
    const initializer = [integers('table', Array<bigint>(1025).fill(2n))];
    const madeUp = constantsOf(nodes, initializer);
    assert.deepEqual(madeUp, { contents: ['size'], sizes: [] });
    const followed = graphOf(nodes, { initializer, dims: { size: [1] } });
    assert.deepEqual(found({ ...followed, madeUp }), [['1 Expand'], ['Expand']]);
  });

  test('are not those that follow from the shape of a weight', () => {
    const nodes = [node('Shape', ['weight'], ['shape']), node('Expand', ['x', 'shape'], ['y'])];
    const initializer = [floats('weight', Array<number>(2048).fill(1.1))];
    assert.deepEqual(constantsOf(nodes, initializer), { contents: [], sizes: [] });
  });
});
