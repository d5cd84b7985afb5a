import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { longestPath } from '../../../../plugins/dlbricks/estimate/longest-path.js';

/** Two branches from sequence 0 to sequence 3, and sequence 4 beside them. */
const DIAMOND = {
  sequences: [0, 1, 2, 3, 4],
  edges: [
    [0, 1],
    [0, 2],
    [1, 3],
    [2, 3],
  ] as [number, number][],
};

describe('the longest path', () => {
  test('takes the heavier branch', () => {
    assert.deepEqual(longestPath(DIAMOND, [1, 2, 3, 1, 1]), [0, 2, 3]);
    assert.deepEqual(longestPath(DIAMOND, [1, 3, 2, 1, 1]), [0, 1, 3]);
  });

  test('is a single sequence if that is heavier than all branches', () => {
    assert.deepEqual(longestPath(DIAMOND, [1, 1, 1, 1, 9]), [4]);
  });

  test('is the first of equally long ones, so that the same graph always has the same one', () => {
    assert.deepEqual(longestPath(DIAMOND, [1, 2, 2, 1, 4]), [0, 1, 3]);
    assert.deepEqual(longestPath(DIAMOND, [0, 0, 0, 0, 0]), [0]);
  });

  test('of no sequences is empty', () => assert.deepEqual(longestPath({ sequences: [], edges: [] }, []), []));
});
