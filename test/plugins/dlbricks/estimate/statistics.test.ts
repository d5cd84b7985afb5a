import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../../support/property.js';
import { occasionSummary } from '../../../../plugins/dlbricks/estimate/brick-latency.js';
import {
  CONFIDENCE,
  geometricMean,
  meanIfAny,
  perCopy,
  studentQuantile,
  summarize,
  sumWithInterval,
} from '../../../../plugins/dlbricks/estimate/statistics.js';
import { trimmedMean } from '../../../../src/measurement/trimmed-mean.js';
import { normalNumbers } from '../support/noise.js';
import { near } from '../../../support/near.js';

const samples = fc.array(fc.double({ min: 0.001, max: 1000, noNaN: true }), { minLength: 1, maxLength: 60 });

/** The interval of a sum. Each term is a count and the samples of one brick. */
function intervalOf(...terms: readonly (readonly [count: number, samples: readonly number[]])[]) {
  return sumWithInterval(terms.map(([count, values]) => ({ count, summary: summarize(values) })));
}

function widthOf({ lowMs, highMs }: ReturnType<typeof sumWithInterval>): number {
  assert.ok(lowMs !== undefined && highMs !== undefined);
  return highMs - lowMs;
}

describe('trimmed mean', () => {
  // By hand: sort, drop floor(0.2 n) at each end, mean; below three values the mean, of three the median.
  const cases: readonly (readonly [string, readonly number[], number])[] = [
    ['one value', [7], 7],
    ['two values: their mean', [9, 5], 7],
    ['three values: the middle one', [100, 1, 2], 2],
    ['four values: nothing is dropped', [100, 1, 2, 5], 27],
    ['five values: one at each end', [100, 3, 1, 2, 4], 3],
    ['nine values: still one at each end', [9, 8, 7, 6, 5, 4, 3, 2, 1000], 6],
    // 50 down to 2 and a million; sorted, without ten at each end, 12 to 41 are left.
    ['fifty values: ten at each end', Array.from({ length: 50 }, (_, i) => (i === 49 ? 1e6 : 50 - i)), 26.5],
  ];
  for (const [name, values, expected] of cases) test(name, () => near(trimmedMean(values), expected));

  test('is the mean of the summary, lies among the values, and does not depend on their order', () => {
    fc.assert(
      fc.property(samples, (values) => {
        const mean = trimmedMean(values);
        near(summarize(values).ms, mean);
        near(trimmedMean(values.toReversed()), mean, 1e-9 * mean);
        assert.ok(mean >= Math.min(...values) * (1 - 1e-12) && mean <= Math.max(...values) * (1 + 1e-12));
      }),
    );
  });
});

describe('standard error', () => {
  test('of one value is not known', () => assert.equal(summarize([5]).standardErrorMs, undefined));
  test('of values that are all the same is 0', () => near(summarize([2, 2, 2, 2, 2]).standardErrorMs, 0));
  // (4 - 2) / 2 = 1 on both sides: variance 2 / 1, over sqrt(2).
  test('of two values is that of their mean', () => near(summarize([2, 4]).standardErrorMs, 1));
  // Standard deviation 1, over sqrt(3), times 1.1602.
  test('of three values is that of the median', () =>
    near(summarize([1, 3, 2]).standardErrorMs, 1.1602 / Math.sqrt(3)));
  // Winsorized: 2 2 3 4 4, mean 3, variance 4 / 4 = 1; over 0.6 sqrt(5).
  test('of five values comes from the winsorized ones', () =>
    near(summarize([1, 2, 3, 4, 99]).standardErrorMs, 1 / (0.6 * Math.sqrt(5))));
});

describe('degrees of freedom', () => {
  // Tukey and McLaughlin (1963): one less than the number of values after trimming. For three values, whose median has
  // the standard error of all of them, one less than three.
  for (const [count, expected] of [
    [1, 0],
    [2, 1],
    [3, 2],
    [4, 3],
    [5, 2],
    [10, 5],
    [50, 29],
  ] as const) {
    test(`of ${count} values are ${expected}`, () => {
      assert.equal(summarize(Array.from({ length: count }, (_, i) => i)).degreesOfFreedom, expected);
    });
  }

  test('of a difference are the smaller number of both, so that its interval is never too narrow', () => {
    const [many, few] = [8, 3].map((degreesOfFreedom) => ({ ms: 5, standardErrorMs: 0.1, degreesOfFreedom }));
    assert.ok(many !== undefined && few !== undefined);
    assert.deepEqual(
      [perCopy(many, few, 1), perCopy(few, many, 1)].map((one) => one.degreesOfFreedom),
      [3, 3],
    );
  });
});

describe("quantile of Student's t distribution", () => {
  // Any table, for instance Abramowitz and Stegun, table 26.10, column 0.95.
  const table: readonly (readonly [number, number])[] = [
    [1, 12.706],
    [2, 4.303],
    [3, 3.182],
    [4, 2.776],
    [5, 2.571],
    [10, 2.228],
    [30, 2.042],
    [120, 1.98],
  ];
  for (const [degrees, expected] of table) {
    test(`${degrees} degrees of freedom`, () => near(studentQuantile(degrees), expected, 0.02 * expected));
  }
});

describe("the quantile of Student's t distribution for other intervals", () => {
  // Abramowitz and Stegun, table 26.10, columns 0.5 and 0.8; the last row is the normal distribution's.
  for (const [level, ...expected] of [
    [0.5, 1, 0.816, 0.765, 0.674],
    [0.8, 3.078, 1.886, 1.638, 1.282],
  ] as const) {
    test(`covers ${level}`, () => {
      for (const [row, degrees] of [1, 2, 3, 1e9].entries())
        near(studentQuantile(degrees, level), expected[row] ?? NaN, 6e-4);
    });
  }

  test('with less than one degree of freedom is as wide as with one', () => {
    near(studentQuantile(0.5), studentQuantile(1));
  });
});

describe("the expansion of Student's quantile", () => {
  // Abramowitz and Stegun 26.7.5 with the terms in 1/f and 1/f², by hand: z = 1.959964, z + 9.489/4f + 270.97/96f².
  for (const [degrees, expected] of [
    [4, 2.729438],
    [5, 2.547318],
    [10, 2.225416],
  ] as const) {
    test(`${degrees} degrees of freedom`, () => near(studentQuantile(degrees), expected, 1e-6));
  }

  test('covers 95 % of cases, with half of the others on each side', () => {
    assert.equal(CONFIDENCE, 0.95);
    near(studentQuantile(1e9), 1.959964, 1e-6);
  });
});

describe('interval of a sum', () => {
  test('holds the sum', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 1, max: 50 }), samples), { minLength: 1 }), (terms) => {
        const { ms, lowMs, highMs } = intervalOf(...terms);
        if (lowMs === undefined || highMs === undefined) return;
        assert.ok(lowMs >= 0 && lowMs <= ms && ms <= highMs && Number.isFinite(highMs));
      }),
    );
  });

  test('is wider if the samples spread more', () => {
    const narrow = intervalOf([1, [9, 9.5, 10, 10.5, 11, 9, 9.5, 10, 10.5, 11]]);
    const wide = intervalOf([1, [8, 9, 10, 11, 12, 8, 9, 10, 11, 12]]);
    near(wide.ms, narrow.ms);
    near(widthOf(wide), 2 * widthOf(narrow));
  });

  test('is narrower if there are more samples of the same spread', () => {
    const few = [9, 10, 11, 9, 10, 11];
    assert.ok(widthOf(intervalOf([1, [...few, ...few]])) < widthOf(intervalOf([1, few])));
  });

  test('grows with the count of a brick that was measured once', () => {
    const values = [9, 9.5, 10, 10.5, 11, 10];
    near(intervalOf([7, values]).ms, 70);
    near(widthOf(intervalOf([7, values])), 7 * widthOf(intervalOf([1, values])));
  });

  test('grows with the square root of the number of separate bricks, reduced by the larger degrees of freedom', () => {
    const values = [9, 9.5, 10, 10.5, 11, 10];
    const widthOfBricks = (bricks: number): number =>
      widthOf(intervalOf(...Array.from({ length: bricks }, () => [1, values] as const)));
    // Six values, four of which are kept: 3 degrees of freedom each.
    near(widthOfBricks(9), 3 * widthOfBricks(1) * (studentQuantile(27) / studentQuantile(3)));
  });

  test('is as wide as that of its only uncertain brick', () => {
    const values = [9, 9.5, 10, 10.5, 11, 10];
    near(widthOf(intervalOf([1, values], [3, [2, 2, 2]])), widthOf(intervalOf([1, values])));
  });

  test('is unknown if something was measured only once', () => {
    assert.deepEqual(intervalOf([2, [3]], [1, [4, 4, 4, 4, 4]]), { ms: 10, lowMs: undefined, highMs: undefined });
  });

  for (const runs of [2, 3, 4, 5, 10, 50]) {
    test(`holds the true value in 90 to 99 of 100 cases, from ${runs} runs`, () => {
      const noise = normalNumbers(runs);
      const bricks = [
        { trueMs: 1, count: 1 },
        { trueMs: 0.5, count: 5 },
        { trueMs: 0.2, count: 20 },
      ];
      const trueSumMs = 1 + 2.5 + 4;
      let hits = 0;
      for (let trial = 0; trial < 1000; trial++) {
        const { lowMs = NaN, highMs = NaN } = intervalOf(
          ...bricks.map(({ trueMs, count }) => {
            return [count, Array.from({ length: runs }, () => trueMs * (1 + 0.05 * noise()))] as const;
          }),
        );
        if (lowMs <= trueSumMs && trueSumMs <= highMs) hits++;
      }
      assert.ok(hits >= 900 && hits <= 990, `${hits} of 1000`);
    });
  }
});

describe('a latency minus the overhead', () => {
  test('is that much shorter, never negative, and as uncertain as before', () => {
    const runMs = [9, 10, 11, 9.5, 10.5];
    const latency = (overheadMs: number) => occasionSummary({ kind: 'samples', runMs, warmupMs: [], overheadMs });
    assert.deepEqual(latency(0.5), { ...summarize(runMs), ms: 9.5 });
    assert.deepEqual(latency(11), { ...summarize(runMs), ms: 0 });
  });
});

describe('means', () => {
  test('the geometric mean of a half and a double is one', () => near(geometricMean([0.5, 2]), 1));
  test('of no values is undefined', () => assert.deepEqual([geometricMean([]), meanIfAny([])], [undefined, undefined]));
  test('the mean', () => near(meanIfAny([1, 2, 6]), 3));
});
