import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BenchmarkInput, inputBytes } from '../../src/measurement/benchmark.js';

test('the bytes of inputs are summed over all inputs, or over the inputs of one role', () => {
  const fill = { low: 0, high: 1, seed: 1 };
  const inputs: readonly BenchmarkInput[] = [
    { name: 'x', role: 'activation', elementType: 'float32', dims: [2, 3], fill },
    { name: 'w', role: 'weight', elementType: 'int64', dims: [5], fill },
  ];
  assert.deepEqual([inputBytes(inputs), inputBytes(inputs, 'weight'), inputBytes([])], [24 + 40, 40, 0]);
});
