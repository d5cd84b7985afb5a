import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { refusal } from '../../rpc/support/refusal.js';
import type { GraphProto, TensorProto } from '../../../src/generated/onnx/onnx.js';
import {
  countLayers,
  type InferredValue,
  isCompletelyTyped,
  layerGraph,
  unknownValues,
} from '../../../src/onnx/layers/layer-graph.js';
import type { Model } from '../../../src/onnx/model/model.js';
import { parseModel } from '../../../src/onnx/read/read-model.js';
import { readNames } from '../../../src/onnx/model/subgraphs.js';
import {
  float,
  floats,
  graph,
  graphAttribute,
  int,
  integers,
  model,
  node,
  pipeline,
  tensorAttribute,
  value,
} from '../protos.js';

function parsed(nodes: GraphProto['node'], rest: Partial<GraphProto> = {}): Model {
  return parseModel(pipeline(nodes, rest), 'model.onnx');
}

function typed(...names: string[]): Partial<GraphProto> {
  return { valueInfo: names.map((name) => value(name, [1, 4])) };
}

function operators(of: Model, inferred?: ReadonlyMap<string, InferredValue>): readonly string[] {
  return layerGraph(of, inferred).layers.map(({ opType }) => opType);
}

function integersOf(...values: number[]): InferredValue {
  const content = new Uint8Array(BigInt64Array.from(values, BigInt).buffer);
  return { elementType: 'int64', dims: [values.length], content };
}

describe('layers', () => {
  test('are the nodes whose result depends on the fed inputs, in their order', () => {
    const weights = { initializer: [floats('w', [1, 2, 3, 4], [1, 4])], ...typed('scaled', 'a') };
    const nodes = [node('Abs', ['x'], ['a']), node('Neg', ['w'], ['scaled']), node('Add', ['a', 'scaled'], ['y'])];
    const given = new Map([['x', { low: 2, high: 3 }]]);
    const whole = parsed(nodes, weights);
    const of = layerGraph({ ...whole, graph: { ...whole.graph, given } });

    assert.equal(countLayers(whole), 2);
    assert.deepEqual([of.source, of.given], ['model.onnx', given]);
    assert.deepEqual(
      of.layers.map(({ opType }) => opType),
      ['Abs', 'Add'],
    );
    assert.deepEqual([...of.constants.keys()], ['w', 'scaled']);
    assert.ok(!of.types.has('scaled'));
  });

  test('include random values, which depend on no fed input, and the dequantization of weights', () => {
    const random = [node('RandomNormalLike', ['w'], ['r']), node('Add', ['x', 'r'], ['y'])];
    const rest = { initializer: [floats('w', [1, 2, 3, 4], [1, 4])], ...typed('r') };
    assert.deepEqual(operators(parsed(random, rest)), ['RandomNormalLike', 'Add']);
    const quantized = [node('DequantizeLinear', ['w', 's'], ['r']), node('Add', ['x', 'r'], ['y'])];
    const scale = { ...rest, initializer: [...rest.initializer, floats('s', [0.1], [])] };
    assert.deepEqual(operators(parsed(quantized, scale)), ['DequantizeLinear', 'Add']);
  });

  test('include the makers of sequences and optional values, which are no constants even without an input', () => {
    const nodes = [
      node('SequenceEmpty', [], ['none']),
      node('SequenceInsert', ['none', 'w'], ['one']),
      node('SequenceInsert', ['one', 'x'], ['two']),
      node('ConcatFromSequence', ['two'], ['y'], [int('axis', 0)]),
    ];
    const of = parsed(nodes, { initializer: [floats('w', [1, 2, 3, 4], [1, 4])] });
    const inferred = new Map([['y', { elementType: 'float32' as const, dims: [2, 4] }]]);
    const { layers, opaque } = layerGraph(of, inferred);
    assert.equal(layers.length, nodes.length);
    assert.deepEqual([...opaque], ['none', 'one', 'two']);
  });

  test('have types without a runtime where ConstantOfShape makes floats of a known shape, as some graphs do for weights', () => {
    const made = (value?: TensorProto, sizes = [2n, 4n]): Model => {
      const attributes = value === undefined ? [] : [tensorAttribute('value', value)];
      const nodes = [node('ConstantOfShape', ['sizes'], ['w'], attributes), node('MatMul', ['x', 'w'], ['y'])];
      return parsed(nodes, { initializer: [integers('sizes', sizes)] });
    };
    const known: readonly Model[] = [made(), made(floats('v', [0.5]))];
    for (const one of known) {
      assert.deepEqual(unknownValues(one), { types: [], contents: [] });
      const data = { kind: 'fill', fill: { low: -1, high: 1, seed: 0 } };
      assert.deepEqual(layerGraph(one).constants.get('w'), { elementType: 'float32', dims: [2, 4], data });
    }
    assert.deepEqual(unknownValues(made(undefined, [0n, 4n])).types, []);
    assert.deepEqual(unknownValues(made(integers('v', [1n]))).types, ['w']);
    assert.deepEqual(unknownValues(made(undefined, [-1n, 4n])).types, ['w']);
  });

  test('are all nodes with subgraphs', () => {
    const body = graph({ node: [node('Add', ['x', 'w'], ['o'])], output: [value('o', [1, 4])] });
    const branches = [graphAttribute('then_branch', body), graphAttribute('else_branch', body)];
    const initializer = [floats('w', [1, 2, 3, 4], [1, 4]), integers('flag', [1n], [])];
    const cast = node('Cast', ['flag'], ['is'], [int('to', 9)]);
    const of = layerGraph(
      parsed([cast, node('If', ['is'], ['y'], branches)], { initializer }),
      new Map([['is', { elementType: 'bool', dims: [], content: Uint8Array.of(1) }]]),
    );

    assert.deepEqual(of.layers.map(readNames), [['is', 'x', 'w']]);
  });

  test('include nodes that compute with shapes, but values that follow from shapes alone are constants as well', () => {
    const nodes = [
      node('Shape', ['x'], ['shape']),
      node('Gather', ['shape', 'last'], ['width']),
      node('Concat', ['one', 'width'], ['target'], [int('axis', 0)]),
      node('Reshape', ['x', 'target'], ['y']),
    ];
    const of = parsed(nodes, { initializer: [integers('last', [1n]), integers('one', [1n])] });
    assert.deepEqual(unknownValues(of), {
      types: ['shape', 'width', 'target'],
      contents: ['shape', 'width', 'target'],
    });

    const inferred = new Map([
      ['shape', integersOf(1, 4)],
      ['width', integersOf(4)],
      ['target', integersOf(1, 4)],
    ]);
    const layers = layerGraph(of, inferred);
    assert.equal(layers.layers.length, 4);
    assert.deepEqual(layers.constants.get('target'), {
      elementType: 'int64',
      dims: [2],
      data: { kind: 'inline', bytes: inferred.get('target')?.content },
    });
  });

  test('whose content depends on the fed inputs give no constant, even if a runtime reports their content', () => {
    const nodes = [node('ArgMax', ['x'], ['index']), node('Cast', ['index'], ['y'], [int('to', 1)])];
    const of = layerGraph(parsed(nodes), new Map([['index', { ...integersOf(3), dims: [1, 1] }]]));
    assert.deepEqual([...of.constants.keys()], []);
    assert.deepEqual(of.types.get('index'), { elementType: 'int64', dims: [1, 1] });
  });
});

describe('types', () => {
  test('in the file are enough if it has all of them', () => {
    // The empty name is an absent output.
    const of = parsed([node('Abs', ['x'], ['a', '']), node('Neg', ['a'], ['y'])], typed('a'));
    assert.deepEqual(unknownValues(of), { types: [], contents: [] });
    assert.deepEqual([...layerGraph(of).types.keys()].sort(), ['a', 'x', 'y']);
  });

  test('of weights that a ConstantOfShape makes need no runtime', () => {
    const nodes = [node('ConstantOfShape', ['size'], ['w']), node('Add', ['x', 'w'], ['y'])];
    const of = parsed(nodes, { initializer: [integers('size', [1n, 4n])] });
    assert.deepEqual(unknownValues(of), { types: [], contents: [] });
    assert.deepEqual(layerGraph(of).constants.get('w')?.dims, [1, 4]);
  });

  test('of integers computed from constants do not tell their content, which may steer an operator', () => {
    const unknown = (valueInfo: GraphProto['valueInfo']) => {
      const nodes = [node('Add', ['one', 'one'], ['two']), node('Expand', ['x', 'two'], ['y'])];
      const of = parsed(nodes, { valueInfo, initializer: [integers('one', [1n])] });
      const found = unknownValues(of);
      assert.equal(isCompletelyTyped(of), found.contents.length === 0);
      return found;
    };
    for (const type of ['int64', 'int32', 'bool'] as const) {
      assert.deepEqual(unknown([value('two', [1], type)]), { types: [], contents: ['two'] });
    }
    assert.deepEqual(unknown([value('two', [1])]), { types: [], contents: [] });
    assert.deepEqual(unknown([]), { types: ['two'], contents: ['two'] });
  });

  test('that stay unknown are an error that names the node', () => {
    const of = parsed([node('Abs', ['x'], ['a'], [], { name: 'first' }), node('Neg', ['a'], ['y'])]);
    assert.throws(() => layerGraph(of), refusal('model', /model\.onnx.*first.*Abs.*a/));
  });

  test('of inputs must have a size in every dimension', () => {
    const bytes = model({
      input: [value('x', ['n', 4])],
      node: [node('LeakyRelu', ['x'], ['y'], [float('alpha', 0.1)])],
      output: [value('y', ['n', 4])],
    });
    assert.throws(() => layerGraph(parseModel(bytes, 'model.onnx')), refusal('model', /input x .*bind/));
  });
});
