import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decidesTime } from '../../../src/onnx/layers/value-classes.js';

test('a mask decides the time of a Softmax, and denormal numbers that of any operator that computes with them', () => {
  const decides = (one: 'mask' | 'denormal', ...operators: readonly string[]): boolean =>
    decidesTime(
      one,
      operators.map((opType) => ({ opType })),
    );
  assert.deepEqual([decides('mask', 'Add', 'Softmax'), decides('mask', 'Add')], [true, false]);
  assert.deepEqual([decides('denormal', 'Reshape', 'Add'), decides('denormal', 'Reshape')], [true, false]);
});
