import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decidesTime, type ValueClass } from '../../../src/onnx/layers/value-classes.js';

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
