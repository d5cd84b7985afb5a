import assert from 'node:assert/strict';
import { test } from 'node:test';
import { numberFrom, positiveNumber } from '../../src/base/bounded-number.js';
import { listOption, numberOption, percentOption, wholeNumberOption } from '../../src/base/option-value.js';

test('a number within its bounds is accepted, and the refusal of any other text states the expected number', () => {
  const parse = numberOption(numberFrom(0, 1000).default(1));
  assert.deepEqual(['0', '0.5', '.5', '1000'].map(parse), [0, 0.5, 0.5, 1000]);
  for (const text of ['', ' ', 'x', '-1', '1e3', '0x10', 'Infinity', '1000.5', '1,5']) {
    assert.throws(() => parse(text), /expected a number from 0 to 1000$/, text);
  }
  assert.throws(() => numberOption(positiveNumber(1000))('0'), /expected a number above 0, at most 1000$/);
  assert.throws(() => wholeNumberOption(1, 9)('1.5'), /expected a whole number from 1 to 9$/);
});

test('a percentage may have its sign', () => {
  const parse = percentOption(numberFrom(0, 100));
  assert.deepEqual(['5', '5%', '0.5%'].map(parse), [5, 5, 0.5]);
  for (const text of ['%', '5%%', '5 %', '200%']) assert.throws(() => parse(text), /expected a number from 0 to 100$/);
});

test('a list of numbers has each number once, and no more numbers than a table has room for', () => {
  const parse = listOption(wholeNumberOption(1, 2000));
  assert.deepEqual(parse('1, 2,2,4'), [1, 2, 4]);
  const list = (length: number): string => Array.from({ length }, (_, i) => i + 1).join(',');
  assert.equal(parse(list(1000)).length, 1000);
  assert.throws(() => parse(list(1001)), /at most 1000 values, found 1001/);
  assert.throws(() => parse('1,,2'), /a whole number from 1 to 2000/);
});
