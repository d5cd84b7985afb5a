import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { factorOfSums, trimmedMean } from '../../src/measurement/trimmed-mean.js';

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

describe('the factor between whole runs and the trimmed means of their parts', () => {
  const runs = Array.from({ length: 10 }, (_, run) => run);
  const undisturbed = runs.map(() => runs.map(() => 1));

  test('has what disturbs each run in another part, which the mean of each part leaves out', () => {
    const parts = runs.map((part) => runs.map((run) => (run === part ? 2 : 1)));
    assert.deepEqual(
      parts.map(trimmedMean),
      parts.flatMap(() => [1]),
    );
    assert.equal(factorOfSums(parts), 1.1);
  });

  test('leaves out what disturbs few runs', () => {
    const disturbed = undisturbed.map((part) => part.map((ms, run) => (run < 3 ? 5 * ms : ms)));
    assert.ok(disturbed.every((part) => trimmedMean(part) > 1));
    assert.equal(factorOfSums(disturbed), 1);
  });

  test('is 1 where nothing is disturbed, and never less', () => {
    assert.equal(factorOfSums(undisturbed), 1);
    // A run that is faster in one part.
    assert.equal(factorOfSums(undisturbed.map((part, index) => part.map((ms, run) => (run === index ? 0 : ms)))), 1);
  });

  test('of three runs it has the median', () => {
    assert.equal(
      factorOfSums([
        [2, 1, 1],
        [1, 2, 1],
        [1, 1, 8],
      ]),
      4 / 3,
    );
  });

  test('is 1 without runs, and where all of them take no time', () => {
    for (const parts of [
      [],
      [[]],
      [
        [0, 0],
        [0, 0],
      ],
    ])
      assert.equal(factorOfSums(parts), 1);
  });

  test('is 1 where each part takes no time in most runs, as of kernels below the resolution of a profile', () => {
    const parts = runs.map((part) => runs.map((run) => (run === part ? 0.001 : 0)));
    assert.equal(factorOfSums(parts), 1);
  });
});
