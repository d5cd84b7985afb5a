import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coresIn } from '../../src/base/core-affinity.js';

test('lists of cores are read as Linux writes them, and other text has none', () => {
  assert.deepEqual(coresIn('0-2,5'), [0, 1, 2, 5]);
  assert.deepEqual(coresIn('3'), [3]);
  assert.deepEqual(coresIn(''), []);
  assert.deepEqual(coresIn('all'), []);
});
