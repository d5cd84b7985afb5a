import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findOldestOpset } from '../../../src/onnx/operators/operator-versions.js';
import { standardNode } from '../../../src/onnx/model/standard-node.js';
import { int } from '../protos.js';

test('a node is of the oldest opset in which it computes the same, and has its attributes', () => {
  const reshape = standardNode('r', 'Reshape', ['x', 's'], ['y']);
  assert.equal(findOldestOpset([reshape], 21, ['float32', 'int64']), 7);
  assert.equal(findOldestOpset([{ ...reshape, attributes: [int('allowzero', 1)] }], 21, ['float32', 'int64']), 21);
});
