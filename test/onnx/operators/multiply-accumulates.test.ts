import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { multiplyAccumulates } from '../../../src/onnx/operators/multiply-accumulates.js';

type Dims = readonly number[] | undefined;

function count(
  operator: string,
  inputs: readonly Dims[],
  outputs: readonly Dims[],
  attributes: Readonly<Record<string, number>> = {},
): number | undefined {
  const integers = new Map(Object.entries(attributes));
  return multiplyAccumulates({ operator, inputs, outputs, integer: (name) => integers.get(name) });
}

// Convolutions, products and LSTM are checked against published counts of the zoo; these the zoo has only after fusion.
describe('multiply-accumulates of the runtime’s own operators', () => {
  const batch = 2;
  const length = 10;
  const width = 12;
  const ofScores = 2 * batch * length * length * width;

  test('attention: the products of the input, and those of queries, keys and values', () => {
    const sequence = [batch, length, width];
    const weights = [width, 3 * width];
    assert.equal(count('Attention', [sequence, weights], [sequence]), batch * length * width * 3 * width + ofScores);
    assert.equal(count('MultiHeadAttention', [sequence, sequence, sequence], [sequence]), ofScores);
    const heads = [batch, 3, length, 4];
    assert.equal(count('Attention', [heads, heads, heads], [heads]), ofScores);
  });

  test('attention with a cache: all of its keys', () => {
    const keys = 100;
    const present = [batch, 2, keys, 4];
    const one = [batch, 1, width];
    assert.equal(count('GroupQueryAttention', [one], [one, present, present]), 2 * batch * width * keys);
  });

  test('recurrence: in each step, the input and the state with the matrices of all gates', () => {
    const steps = 5;
    const hidden = 8;
    const weights = [[1, 4 * hidden, width], [1, 4 * hidden, hidden]]; // prettier-ignore
    const expected = steps * batch * 4 * hidden * (width + hidden);
    assert.equal(count('LSTM', [[steps, batch, width], ...weights], [[steps, 1, batch, hidden]]), expected);
  });

  test('quantized: the weights are a later input', () => {
    const image = [1, 3, 8, 8];
    const scale: number[] = [];
    const weights = [4, 3, 3, 3];
    assert.equal(count('QLinearConv', [image, scale, scale, weights], [[1, 4, 6, 6]]), 4 * 6 * 6 * 3 * 3 * 3);
    assert.equal(count('MatMulInteger', [[5, 7], [7, 9]], [[5, 9]]), 5 * 7 * 9); // prettier-ignore
  });

  test('a transposed factor, an operator without products, and an unknown shape', () => {
    assert.equal(count('FusedMatMul', [[7, 5], [7, 9]], [[5, 9]], { transA: 1 }), 5 * 7 * 9); // prettier-ignore
    assert.equal(count('Relu', [[5]], [[5]]), 0);
    assert.equal(count('Conv', [[1, 3, 8, 8], undefined], [[1, 4, 6, 6]]), undefined);
    assert.equal(count('constructor', [[5]], [[5]]), 0);
  });
});
