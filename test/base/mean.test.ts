import assert from 'node:assert/strict';
import { test } from 'node:test';
import { median } from '../../src/base/mean.js';

test('the median is the middle value, or the mean of the middle two', () => {
  assert.deepEqual([median([5]), median([9, 1, 5]), median([8, 1, 3, 2])], [5, 5, 2.5]);
});
