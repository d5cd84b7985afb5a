import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fittingValues } from '../../../src/onnx/values/fitting/fitting-values.js';
import { standardNode } from '../../../src/onnx/model/standard-node.js';

type Dims = readonly number[];

/** Made-up values of an operator's input, from the sizes that are known. */
function listFor(opType: string, index: number, count: number, inputs: readonly Dims[], outputs: readonly Dims[] = []) {
  const use = {
    node: standardNode('n', opType, ['x', 'y'], ['z']),
    count,
    own: [count],
    input: (at: number) => inputs[at],
    output: (at: number) => outputs[at],
    constant: () => undefined,
  };
  const fitting = fittingValues(index, use);
  return fitting?.kind === 'list' ? fitting.values : undefined;
}

test('parts of a Split are equal, and the last one has the remainder', () => {
  assert.deepEqual(listFor('Split', 1, 3, [[7, 2]]), [2, 2, 3]);
  assert.deepEqual(listFor('Split', 1, 2, [[7, 2]], [[5, 2], [2, 2]]), [5, 2]); // prettier-ignore
});

test('the grid of an AffineGrid has the size of its output, for one channel', () => {
  assert.deepEqual(listFor('AffineGrid', 1, 4, [[2, 2, 3]], [[2, 5, 6, 2]]), [2, 1, 5, 6]);
});

test('the second input of a Resize has scales up to version 10, and later the whole input', () => {
  const before = [1, 3, 4, 4];
  const after = [1, 3, 8, 12];
  assert.deepEqual(listFor('Resize', 1, 4, [before], [after]), [1, 1, 2, 3]);
  assert.deepEqual(listFor('Resize', 1, 8, [before], [after]), [0, 0, 0, 0, 1, 1, 1, 1]);
  assert.equal(listFor('Resize', 0, 4, [before], [after]), undefined);
});

test('a cache that is a buffer is as full as it is before the new tokens fill it', () => {
  const [one, cache] = [
    [1, 1, 512],
    [1, 8, 2048, 64],
  ];
  const before = [one, one, one, [], []];
  assert.deepEqual(listFor('DecoderMaskedMultiHeadAttention', 7, 1, [...before, cache, cache]), [2047]);
  assert.deepEqual(listFor('MultiHeadAttention', 8, 1, [[1, 4, 512], ...before, cache, cache]), [2044]);
});
