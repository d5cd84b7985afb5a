import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { runOnce } from '../../../src/agent/jobs/run-once.js';
import { fakeContext, fakePredictor } from '../support/fake-context.js';
import { relu, runOptions } from '../support/tiny-benchmarks.js';

test('one run describes its outputs: a checksum, the norm of finite elements, the first ones and some of all', async () => {
  const numbers = Float32Array.of(3, NaN, 4, Infinity, 0, 0, 0, 0, 0, 0);
  const bytes = new Uint8Array(numbers.buffer);
  const evaluate = () =>
    Promise.resolve(
      new Map([
        ['y', { elementType: 'float32' as const, dims: [2, 5], bytes }],
        ['text', { elementType: 'string' as const, dims: [1], bytes: new Uint8Array() }],
      ]),
    );
  const context = fakeContext({ predictor: fakePredictor({ evaluate }) });
  const request = { kind: 'run-once', benchmark: relu, runOptions, memoryLimitBytes: 1e9, everyValue: false } as const;
  const of = async (elements: number) => [...(await runOnce({ ...request, elements }, context))];
  const expected = {
    elementType: 'float32',
    dims: [2, 5],
    sha256: createHash('sha256').update(bytes).digest('hex'),
    norm: 5,
    notFinite: 2,
    first: [...numbers.subarray(0, 8)],
  };
  assert.deepEqual(await of(4), [['y', { ...expected, elements: [3, Infinity, 0, 0], stride: 3 }]]);
  assert.deepEqual(await of(10), [['y', { ...expected, elements: [...numbers], stride: 1 }]]);
  assert.deepEqual(await of(0), [['y', { ...expected, elements: [], stride: 1 }]]);
});
