import assert from 'node:assert/strict';
import { test } from 'node:test';
import { append, hypotOf, maxOf, minOf, partsOf } from '../../src/base/long-lists.js';

test('lists that are longer than the arguments of a call have a largest and a smallest number, and can be appended', () => {
  const long = Array.from({ length: 200_000 }, (_, index) => index);
  const all = [-1];
  append(all, long);
  assert.deepEqual([all.length, maxOf(all), minOf(all)], [200_001, 199_999, -1]);
});

test('what is not a number is the largest and the smallest, and an empty list has neither', () => {
  assert.deepEqual([maxOf([1, NaN, 2]), minOf([1, NaN, 2]), maxOf([]), minOf([])], [NaN, NaN, -Infinity, Infinity]);
});

test('the root of the sum of squares is that of Math.hypot', () => {
  assert.deepEqual([hypotOf([3, 4]), hypotOf([]), hypotOf(Array.from({ length: 250_000 }, () => 2))], [5, 0, 1000]);
});

test('the parts of a list have all of its items in order, and only the last part is shorter', () => {
  assert.deepEqual([...partsOf([1, 2, 3, 4, 5], 2)], [[1, 2], [3, 4], [5]]);
  assert.deepEqual([...partsOf([1, 2], 2), ...partsOf([], 2)], [[1, 2]]);
});
