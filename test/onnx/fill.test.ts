import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillBlocks } from '../../src/onnx/fill.js';

function made(count: number, seed: number): Buffer {
  return Buffer.concat(
    [...fillBlocks('float32', count, { low: -1, high: 1, seed })].map((block) => Buffer.from(block)),
  );
}

test('the same seed makes the same values', () => assert.deepEqual(made(100_000, 3), made(100_000, 3)));
test('another seed makes others', () => assert.notDeepEqual(made(100, 3), made(100, 4)));
test('there are as many as asked for, also beyond one block', () => assert.equal(made(70_001, 1).length, 70_001 * 4));
test('none is near zero, where processors slow down', () => {
  const bytes = made(100_000, 5);
  const values = new Float32Array(new Uint8Array(bytes).buffer);
  assert.ok(values.every((x) => Math.abs(x) >= 2 ** -8 && Math.abs(x) <= 1));
});
test('values of less than a byte are packed', () => {
  const [block] = [...fillBlocks('int4', 5, { low: 0, high: 1, seed: 1 })];
  assert.equal(block?.length, 3);
});
