import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseBoundedJson } from '../../src/base/bounded-json.js';

describe('a JSON text', () => {
  test('is read as it is, with quotes and brackets in its strings', () => {
    const value = { 'a"[{,': [1, '\\"]', { b: [] }], c: '[[[' };
    assert.deepEqual(parseBoundedJson(JSON.stringify(value)), value);
    assert.equal(parseBoundedJson(JSON.stringify('['.repeat(1000))), '['.repeat(1000));
  });

  test('of 64 levels is read, and of 65 levels is refused', () => {
    const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
    parseBoundedJson(nested(64));
    assert.throws(() => parseBoundedJson(nested(65)), /nested deeper than 64 levels/);
    assert.throws(() => parseBoundedJson('['.repeat(1_000_000)), /nested deeper than 64 levels/);
  });

  // Each list takes three bytes in the text, and some tens of bytes in memory.
  test('of millions of empty lists is refused before any is made', () => {
    const text = `[${'[],'.repeat(2 ** 23)}[]]`;
    assert.throws(() => parseBoundedJson(text), /more than 16777216 values/);
  });
});
