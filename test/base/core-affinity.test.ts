import assert from 'node:assert/strict';
import { test } from 'node:test';
import { numbersIn } from '../../src/base/core-affinity.js';

test('lists of cores are read as Linux writes them, and other text has none', () => {
  assert.deepEqual(numbersIn('0-2,5'), [0, 1, 2, 5]);
  assert.deepEqual(numbersIn('3'), [3]);
  assert.deepEqual(numbersIn(''), []);
  assert.deepEqual(numbersIn('all'), []);
});
