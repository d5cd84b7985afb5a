import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wholeNumbersOption } from '../../src/base/option-value.js';

test('a list of numbers has each once, and no more than a table has room for', () => {
  const parse = wholeNumbersOption(1, 1000);
  assert.deepEqual(parse('1, 2,2,4'), [1, 2, 4]);
  const list = (length: number): string => Array.from({ length }, (_, i) => i + 1).join(',');
  assert.equal(parse(list(100)).length, 100);
  assert.throws(() => parse(list(101)), /at most 100 numbers, found 101/);
  assert.throws(() => parse('1,,2'), /a whole number from 1 to 1000/);
});
