import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decidesTime, type ValueClass, valueClasses } from '../../../src/onnx/layers/value-classes.js';
import { floatTensor, GraphBuilder } from '../../plugins/dlbricks/support/graph-builder.js';

test('a mask decides the time of a Softmax, and denormal numbers that of any operator that computes with them', () => {
  const decides = (one: ValueClass, ...operators: readonly string[]): boolean =>
    decidesTime(
      one,
      operators.map((opType) => ({ opType })),
    );
  assert.deepEqual([decides('mask', 'Add', 'Softmax'), decides('mask', 'Add')], [true, false]);
  for (const operator of ['LogSoftmax', 'Attention', 'MultiHeadAttention']) assert.ok(decides('hidden', operator));
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
  assert.deepEqual([classAfter('Softmax'), classAfter('Mul', [1, 2])], ['denormal', undefined]);
});
