import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Operations, countOperations, totalOperations } from '../../../src/onnx/operators/operations.js';

type Dims = readonly number[] | undefined;

function count(
  operator: string,
  inputs: readonly Dims[],
  outputs: readonly Dims[],
  attributes: Readonly<Record<string, number | readonly number[]>> = {},
): Operations | undefined {
  const found = new Map(Object.entries(attributes));
  return countOperations({
    operator,
    inputs,
    outputs,
    integer: (name) => (typeof found.get(name) === 'number' ? (found.get(name) as number) : undefined),
    integers: (name) => (Array.isArray(found.get(name)) ? (found.get(name) as number[]) : undefined),
  });
}

const NOTHING = { multiplyAccumulates: 0, additions: 0, divisions: 0, exponentiations: 0, comparisons: 0, others: 0 };

// The formulas are those of docs/analyses.md.
describe('operations', () => {
  test('convolution and matrix product: a multiply-accumulate is two operations', () => {
    const convolution = count('Conv', [[1, 3, 8, 8], [4, 3, 3, 3], [4]], [[1, 4, 6, 6]]); // prettier-ignore
    assert.deepEqual(convolution, { ...NOTHING, multiplyAccumulates: 4 * 6 * 6 * 3 * 3 * 3 });
    const product = count('Gemm', [[5, 7], [7, 9], [9]], [[5, 9]]); // prettier-ignore
    assert.deepEqual(product, { ...NOTHING, multiplyAccumulates: 5 * 7 * 9, additions: 5 * 9 });
    assert.equal(product && totalOperations(product), 2 * 5 * 7 * 9 + 5 * 9);
    assert.equal(count('Gemm', [[5, 7], [7, 9]], [[5, 9]])?.additions, 0); // prettier-ignore
  });

  test('windows, normalization and activations', () => {
    const pool = count('MaxPool', [[1, 4, 8, 8]], [[1, 4, 4, 4]], { kernel_shape: [3, 2] });
    assert.deepEqual(pool, { ...NOTHING, comparisons: 64 * 6 });
    assert.deepEqual(count('BatchNormalization', [[2, 5]], [[2, 5]]), { ...NOTHING, additions: 10, divisions: 10 });
    assert.deepEqual(count('Relu', [[7]], [[7]]), { ...NOTHING, comparisons: 7 });
    const softmax = { ...NOTHING, exponentiations: 7, additions: 7, divisions: 7 };
    assert.deepEqual(count('Softmax', [[7]], [[7]]), softmax);
    assert.deepEqual(count('Mul', [[7], [7]], [[7]]), { ...NOTHING, others: 7 });
    assert.deepEqual(count('Sum', [[7], [7], [7]], [[7]]), { ...NOTHING, additions: 14 }); // prettier-ignore
    assert.deepEqual(count('ReduceMean', [[4, 5]], [[4]]), { ...NOTHING, additions: 20, divisions: 4 });
  });

  test('moving values is no operation', () => {
    assert.deepEqual(count('Reshape', [[4, 5], [1]], [[20]]), NOTHING); // prettier-ignore
    assert.deepEqual(count('ReorderOutput', [[1, 8, 4, 4]], [[1, 8, 4, 4]]), NOTHING);
  });

  test('what is not known is not zero', () => {
    assert.equal(count('Einsum', [[4, 5], [5, 6]], [[4, 6]]), undefined); // prettier-ignore
    assert.equal(count('MaxPool', [[1, 4, 8, 8]], [[1, 4, 4, 4]]), undefined);
    assert.equal(count('Relu', [undefined], [undefined]), undefined);
    assert.equal(count('constructor', [[4]], [[4]]), undefined);
    // A profile without the weights, which the runtime keeps in another layout: the bias is in their place.
    assert.equal(count('Conv', [[1, 3, 8, 8], [4]], [[1, 4, 6, 6]]), undefined); // prettier-ignore
  });
});
