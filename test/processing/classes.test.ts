import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TensorValue } from '../../src/predictor/tensor-value.js';
import { softmax, topK } from '../../src/processing/classes.js';
import { readClasses, rawOf } from '../../src/processing/postprocess.js';

function floats(dims: readonly number[], values: readonly number[]): TensorValue {
  return { elementType: 'float32', dims, bytes: new Uint8Array(new Float32Array(values).buffer) };
}

describe('softmax', () => {
  test('as NumPy computes it', () => {
    // numpy.exp(x) / numpy.exp(x).sum() for x = [1, 2, 4]
    const expected = [0.04201006613406605, 0.11419519938459449, 0.8437947344813395];
    for (const [i, value] of softmax([1, 2, 4]).entries()) assert.ok(Math.abs(value - (expected[i] ?? 0)) < 1e-15);
  });

  test('scores of any size', () => {
    assert.deepEqual([...softmax([1e4, 1e4, -1e4])], [0.5, 0.5, 0]);
  });
});

describe('the top k', () => {
  test('has the highest first, equal values in their order, and NaN last', () => {
    const order = topK([0.1, NaN, 0.5, 0.1, 0.9, -Infinity], 6).map(({ index }) => index);
    assert.deepEqual(order, [4, 2, 0, 3, 1, 5]);
  });

  test('has no more than there are', () => {
    assert.equal(topK([1, 2], 5).length, 2);
  });
});

describe('classes', () => {
  const output = floats([2, 3], [1, 2, 4, 9, 0, 3]);
  const labels = ['cat', 'dog', 'owl'];

  test('of each element of the batch, with labels', () => {
    const found = [0, 1].map((row) => {
      return readClasses(output, { kind: 'classes', softmax: false, k: 2, labels }, { row, rows: 2, limit: 0 });
    });
    const kind = 'classification';
    assert.deepEqual(found, [
      [
        { kind, index: 2, label: 'owl', probability: 4 },
        { kind, index: 1, label: 'dog', probability: 2 },
      ],
      [
        { kind, index: 0, label: 'cat', probability: 9 },
        { kind, index: 2, label: 'owl', probability: 3 },
      ],
    ]);
  });

  test('a limit replaces the manifest’s number', () => {
    const count = (limit: number) =>
      readClasses(output, { kind: 'classes', softmax: true, k: 2 }, { row: 0, rows: 2, limit }).length;
    assert.deepEqual([count(0), count(1), count(3), count(99)], [2, 1, 3, 3]);
  });

  test('labels of another model are refused', () => {
    assert.throws(
      () => readClasses(output, { kind: 'classes', softmax: true, labels: ['a', 'b'] }, { row: 0, rows: 2, limit: 0 }),
      { name: 'PlatformError', message: /manifest has 2 labels, the model 3 classes/ },
    );
  });

  test('half precision is understood', () => {
    // 1, 2 and 0.5 as float16.
    const bytes = new Uint8Array(new Uint16Array([0x3c00, 0x4000, 0x3800]).buffer);
    const half: TensorValue = { elementType: 'float16', dims: [1, 3], bytes };
    const [first] = readClasses(half, { kind: 'classes', softmax: false }, { row: 0, rows: 1, limit: 1 });
    assert.deepEqual(first, { kind: 'classification', index: 1, label: '', probability: 2 });
  });

  test('an output without a batch cannot be divided', () => {
    assert.throws(() => rawOf('y', floats([3], [1, 2, 3]), { row: 0, rows: 2 }), /ask for batch_size 1/);
    assert.equal(rawOf('y', floats([3], [1, 2, 3]), { row: 0, rows: 1 }).kind, 'raw');
  });
});
