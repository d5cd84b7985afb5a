import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDefaultAttribute } from '../../../src/onnx/operators/default-attributes.js';
import { int, ints } from '../protos.js';

const pool = { opType: 'MaxPool', domain: '' };

test('lists of ones and zeros are defaults of windows, other lists are not', () => {
  assert.ok(isDefaultAttribute(pool, ints('strides', [1, 1])));
  assert.ok(isDefaultAttribute(pool, ints('pads', [0, 0, 0, 0])));
  for (const other of [
    ints('strides', [1, 2]),
    ints('pads', [0, 1, 0, 0]),
    ints('strides', []),
    ints('kernel_shape', [1]),
  ]) {
    assert.ok(!isDefaultAttribute(pool, other), other.name);
  }
  assert.ok(!isDefaultAttribute({ opType: 'Relu', domain: '' }, ints('strides', [1])));
});

test('a value is a default only of its own operator and domain', () => {
  assert.ok(isDefaultAttribute({ opType: 'Flatten', domain: '' }, int('axis', 1)));
  assert.ok(!isDefaultAttribute({ opType: 'Flatten', domain: '' }, int('axis', 2)));
  assert.ok(!isDefaultAttribute({ opType: 'Flatten', domain: 'com.example' }, int('axis', 1)));
});
