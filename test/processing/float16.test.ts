import assert from 'node:assert/strict';
import { test } from 'node:test';
import { float16Bits, fromFloat16Bits } from '../../src/processing/float16.js';

const FINITE = Array.from({ length: 0x7c00 }, (_, bits) => bits);

test('every float16 comes back from its number', () => {
  for (const bits of FINITE) {
    assert.equal(float16Bits(fromFloat16Bits(bits)), bits);
    assert.equal(float16Bits(-fromFloat16Bits(bits)), bits | 0x8000);
  }
});

test('between two neighbours the nearer one, half way the even one', () => {
  for (const bits of FINITE.slice(0, -1)) {
    const [low, high] = [fromFloat16Bits(bits), fromFloat16Bits(bits + 1)];
    const middle = (low + high) / 2;
    assert.equal(float16Bits(middle), bits % 2 === 0 ? bits : bits + 1);
    assert.equal(float16Bits(middle - (high - low) / 8), bits);
    assert.equal(float16Bits(middle + (high - low) / 8), bits + 1);
  }
});

test('what is too large is infinite, and what is no number stays none', () => {
  assert.deepEqual([65519, 65520, Infinity, -Infinity].map(float16Bits), [0x7bff, 0x7c00, 0x7c00, 0xfc00]);
  assert.ok(Number.isNaN(fromFloat16Bits(float16Bits(NaN))));
});
