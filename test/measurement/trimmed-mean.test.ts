import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { trimmedMean } from '../../src/measurement/trimmed-mean.js';

describe('the trimmed mean', () => {
  // floor(0.2 n) of n samples are dropped at each end (rai-project/evaluation, TrimmedMean).
  const cases: readonly [what: string, samples: readonly number[], mean: number][] = [
    ['one sample is itself', [7], 7],
    ['of two nothing is dropped', [1, 4], 2.5],
    ['of three it is the median', [1, 2, 30], 2],
    ['of four nothing is dropped', [0, 2, 4, 94], 25],
    ['of five one is dropped at each end', [1, 2, 6, 7, 100], 5],
    ['of nine still one', [-90, 1, 2, 3, 4, 5, 6, 14, 900], 5],
    ['of ten two', [-9, 0, 1, 2, 3, 4, 5, 9, 90, 900], 4],
    ['samples come in any order, and are sorted as numbers', [10, 9, 100, 8, 1], 9],
  ];
  for (const [what, samples, mean] of cases) {
    test(what, () => assert.equal(trimmedMean(samples), mean));
  }

  test('of no samples does not exist', () => assert.ok(Number.isNaN(trimmedMean([]))));

  test('leaves the samples in their order', () => {
    const samples = [3, 1, 2];
    trimmedMean(samples);
    assert.deepEqual(samples, [3, 1, 2]);
  });
});
