import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillBlocks } from '../../../src/onnx/values/fill.js';
import { fromFloat16Bits } from '../../../src/onnx/model/float16.js';

function made(count: number, seed: number): Buffer {
  return Buffer.concat(
    [...fillBlocks('float32', count, { low: -1, high: 1, seed })].map((block) => Buffer.from(block)),
  );
}

test('the same seed makes the same values', () => assert.deepEqual(made(100_000, 3), made(100_000, 3)));
test('another seed makes other values', () => assert.notDeepEqual(made(100, 3), made(100, 4)));
test('as many values are made as requested, also beyond one block', () =>
  assert.equal(made(70_001, 1).length, 70_001 * 4));
test('no value is near zero, where processors slow down', () => {
  const bytes = made(100_000, 5);
  const values = new Float32Array(new Uint8Array(bytes).buffer);
  assert.ok(values.every((x) => Math.abs(x) >= 2 ** -8 && Math.abs(x) <= 1));
});
test('values of less than a byte are packed', () => {
  const [block] = [...fillBlocks('int4', 5, { low: 0, high: 1, seed: 1 })];
  assert.equal(block?.length, 3);
});
test('float16 values are the nearest to those of float32, and finite where those are too large', () => {
  const fill = { low: -1e5, high: 1e5, seed: 3 };
  const [exact] = [...fillBlocks('float32', 1000, fill)].map((block) => new Float32Array(block.slice().buffer));
  const [half] = [...fillBlocks('float16', 1000, fill)].map((block) => new Uint16Array(block.slice().buffer));
  assert.ok(exact !== undefined && half !== undefined);
  for (const [i, bits] of half.entries()) {
    const nearest = Math.min(65504, Math.max(-65504, exact[i] ?? NaN));
    // binary16 has 11 significant bits.
    assert.ok(Math.abs(fromFloat16Bits(bits) - nearest) <= Math.abs(nearest) * 2 ** -11);
  }
});
test('no strings are made up', () => {
  assert.throws(() => [...fillBlocks('string', 1, { low: 0, high: 1, seed: 1 })], /no strings/);
});
