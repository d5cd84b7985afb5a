import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatMs } from '../../src/base/format-ms.js';

test('milliseconds that round to zero have no sign', () => {
  assert.deepEqual([-0.0001, -0.002, 0].map(formatMs), ['0.000', '-0.002', '0.000']);
});
