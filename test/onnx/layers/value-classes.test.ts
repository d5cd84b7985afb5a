import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  CLASS_VALUES,
  classesInFloat32,
  decidesTime,
  type ValueClass,
  valueClasses,
  withClassesOfConstants,
} from '../../../src/onnx/layers/value-classes.js';
import { float16Bits } from '../../../src/onnx/model/float16.js';
import { standardNode } from '../../../src/onnx/model/standard-node.js';
import { floatTensor, GraphBuilder } from '../../plugins/dlbricks/support/graph-builder.js';

test('a mask decides the time of a Softmax, and denormal numbers that of any operator that computes with them', () => {
  const decides = (one: ValueClass, ...operators: readonly string[]): boolean =>
    decidesTime(
      one,
      operators.map((opType) => ({ opType })),
    );
  assert.deepEqual([decides('mask', 'Add', 'Softmax'), decides('mask', 'Add')], [true, false]);
  for (const operator of ['LogSoftmax', 'Exp', 'Attention', 'MultiHeadAttention'])
    assert.ok(decides('hidden', operator));
  assert.equal(decides('hidden', 'MatMul'), false);
  assert.deepEqual([decides('denormal', 'Reshape', 'Add'), decides('denormal', 'Reshape')], [true, false]);
});

test('a mask stays one where it is moved or added, and a Softmax makes denormal numbers of it', () => {
  const classAfter = (opType: string, ...others: readonly number[][]) => {
    const g = new GraphBuilder();
    const mask = g.constant(floatTensor([0, -95]));
    const made = g.layer(opType, [mask, ...others.map((values) => g.constant(floatTensor(values)))], [2]);
    return valueClasses(g.model([made]).graph).get(made);
  };
  const moving =
    'Cast Concat Expand Flatten Gather Identity Reshape ScatterND Slice Split Squeeze Tile Transpose Unsqueeze Where';
  for (const opType of moving.split(' ')) assert.equal(classAfter(opType), 'mask', opType);
  assert.deepEqual([classAfter('Add', [1, 2]), classAfter('Sum', [1, 2])], ['mask', 'mask']);
  assert.deepEqual([classAfter('Add', [-1e4, -1e4]), classAfter('Add', [0, -1000])], ['mask', 'mask']);
  assert.deepEqual([classAfter('Softmax'), classAfter('Mul', [1, 2])], ['denormal', undefined]);
});

test('a mask of float16 is one, also in the kernels that calculate with it in float32', () => {
  const g = new GraphBuilder();
  const bytes = new Uint8Array(Uint16Array.from([0, -100], float16Bits).buffer);
  const mask = g.constant({ elementType: 'float16', dims: [2], data: { kind: 'inline', bytes } });
  const scores = g.layer('Add', [g.input('float16', [2]), mask], [2]);
  const shares = g.layer('Softmax', [scores], [2]);
  const ofSource = valueClasses(g.model([shares]).graph);
  assert.deepEqual([ofSource.get(scores), ofSource.get(shares)], ['mask', 'denormal']);
  const kernel = (opType: string, inputs: readonly string[], output: string) => {
    const named = (name: string): string => `InsertedPrecisionFreeCast_${name}`;
    return standardNode('', opType, inputs.map(named), [named(output)]);
  };
  const kernels = [
    kernel('Add', ['x', mask], scores),
    kernel('ReduceMax', [scores], 'largest'),
    kernel('Sub', [scores, 'largest'], 'less'),
    kernel('Exp', ['less'], 'powers'),
    kernel('ReduceSum', ['powers'], 'sum'),
    kernel('Div', ['powers', 'sum'], shares),
    kernel('MatMul', [shares, 'x'], 'y'),
  ];
  const classes = classesInFloat32(kernels, ofSource);
  const classOf = (name: string): ValueClass | undefined => classes.get(`InsertedPrecisionFreeCast_${name}`);
  const made = ['x', mask, scores, 'largest', 'less', 'powers', 'sum', shares, 'y'].map(classOf);
  const [none] = made;
  assert.deepEqual(made, [none, 'mask', 'mask', none, 'mask', 'denormal', none, 'denormal', none]);
  assert.equal(none, undefined);
});

/** The class of what an operator makes of constants. */
function classMade(opType: string, ...constants: readonly (readonly number[])[]): ValueClass | undefined {
  const g = new GraphBuilder();
  const inputs = constants.map((values) => g.constant(floatTensor(values)));
  const made = g.layer(opType, inputs, [2]);
  return valueClasses(g.model([made]).graph).get(made);
}

test('the values that stand for a class are of that class', () => {
  for (const [one, { list = [] }] of Object.entries(CLASS_VALUES)) assert.equal(classMade('Identity', list), one);
});

test('a constant condition hides something only where it differs between places', () => {
  const lowest = [-1e4, -1e4];
  assert.equal(classMade('Where', [0, 1], lowest, [3, 4]), 'hidden');
  for (const same of [0, 1, 5]) assert.equal(classMade('Where', [same, same], lowest, [3, 4]), undefined);
  assert.equal(classMade('Where', [0, 1, 5], lowest, [3, 4]), undefined);
  assert.equal(classMade('Where', [0, 1], lowest, [0, -95]), 'mask');
});

test('a sum with denormal numbers is not denormal, and what moves them is', () => {
  const denormal = [0.5, 1e-40];
  assert.deepEqual([classMade('Add', denormal, [1, 2]), classMade('Reshape', denormal)], [undefined, 'denormal']);
});

test('a constant of more than a mebibyte, or without its values, has no class', () => {
  const masked = (length: number) => Array.from({ length }, (_, at) => (at % 2 === 0 ? 0 : -95));
  assert.equal(classMade('Identity', masked(2 ** 18)), 'mask');
  assert.equal(classMade('Identity', masked(2 ** 18 + 1)), undefined);
  const g = new GraphBuilder();
  const filled = g.constant({
    ...floatTensor(masked(64)),
    data: { kind: 'fill', fill: { low: -100, high: 0, seed: 0 } },
  });
  assert.equal(valueClasses(g.model([g.layer('Neg', [filled], [64])]).graph).size, 0);
});

test('constants have the values of their class, a single number one of them, and given values stay', () => {
  const g = new GraphBuilder();
  const [wide = '', one = '', known = '', plain = ''] = [[0, -99], [-99], [0, -99], [1, 2]].map((values) => {
    return g.constant(floatTensor(values));
  });
  const model = g.model([g.layer('Sum', [wide, one, known, plain], [2])]);
  const kept = { low: 7, high: 8 };
  const { given } = withClassesOfConstants({
    ...model,
    graph: { ...model.graph, given: new Map([[known, kept]]) },
  }).graph;
  const expected = new Map([
    [wide, CLASS_VALUES.mask],
    [one, { low: -95, high: -95 }],
    [known, kept],
  ]);
  assert.deepEqual(given, expected);
});

test('a denormal factor makes denormal numbers, and a sum with others makes none', () => {
  const g = new GraphBuilder();
  const product = g.layer('Mul', [g.input('float32', [2]), g.constant(floatTensor([1e-40], []))], [2]);
  const moved = g.layer('Reshape', [product, g.constant(floatTensor([2]))], [2]);
  const sum = g.layer('Add', [moved, g.constant(floatTensor([1, 2]))], [2]);
  const classes = valueClasses(g.model([sum]).graph);
  assert.deepEqual(
    [product, moved, sum].map((name) => classes.get(name)),
    ['denormal', 'denormal', undefined],
  );
});
