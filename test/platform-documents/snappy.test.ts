import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { snappyCompress } from '../../src/platform-documents/snappy.js';
import { snappyDecompress } from './support/snappy-decompress.js';

describe('compressing by Snappy', () => {
  test('is lossless for any bytes', () => {
    const texts = ['', 'a', 'abc', 'aaaa', 'a'.repeat(1000), 'abcabcabcabd'.repeat(7), 'x'.repeat(59) + 'yz'];
    const random = [1, 60, 61, 62, 100_000].map((length) => randomBytes(length));
    // A repetition farther back than a copy can reach.
    const far = randomBytes(100);
    const all = [...texts.map((text) => Buffer.from(text)), ...random, Buffer.concat([far, randomBytes(70_000), far])];
    for (const bytes of all) assert.deepEqual(snappyDecompress(snappyCompress(bytes)), bytes);
  });

  test('makes repetitive texts small', () => {
    const text = Buffer.from(JSON.stringify(Array.from({ length: 1000 }, (_, i) => ({ traceID: 'c0ffee', index: i }))));
    assert(snappyCompress(text).length < text.length / 3);
  });
});
