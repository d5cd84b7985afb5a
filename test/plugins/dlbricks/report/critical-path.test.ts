import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawnEstimate } from '../../../../plugins/dlbricks/report/critical-path.js';
import { estimateOf } from './sample-result.js';

test('a drawn estimate says what its sum has besides the kernels that are drawn', () => {
  // The four kernels take 10 ms, and 7.5 ms along the longest path.
  const titleOf = (ms: number): string => {
    const [sequential, parallel] = [ms, ms - 2.5].map((sum) => ({ ms: sum, lowMs: undefined, highMs: undefined }));
    return drawnEstimate(estimateOf('m', ms, { sequential, parallel }), 'm').title;
  };
  const sums = 'm: 7.537 ms along the longest path, 10.04 ms in all';
  assert.equal(titleOf(10.037), `${sums}; both include 0.037 ms for the call, which is not drawn`);
  assert.equal(titleOf(10), 'm: 7.500 ms along the longest path, 10.00 ms in all');
});
