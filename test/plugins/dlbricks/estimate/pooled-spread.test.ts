import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../../support/property.js';
import {
  type ErrorSource,
  computeMargin,
  pooledSpread,
  studentQuantile,
} from '../../../../plugins/dlbricks/estimate/statistics.js';
import { normalNumbers, uniformNumbers } from '../support/noise.js';
import { near } from '../../../support/near.js';

/** The 0.975 quantile of the standard normal distribution, from any table. */
const NORMAL = 1.96;

const values = fc.array(fc.double({ min: 0.5, max: 2, noNaN: true }), { minLength: 1, maxLength: 5 });
const groups = fc.array(fc.record({ values, weight: fc.double({ min: 0.01, max: 100, noNaN: true }) }), {
  maxLength: 20,
});

describe('the spread that groups share', () => {
  for (const known of [0.002, 0.02, 0.1]) {
    test(`is ${known} if the values were made with it, for any sizes, weights and counts`, () => {
      const noise = normalNumbers(11);
      const uniform = uniformNumbers(12);
      const made = Array.from({ length: 3000 }, () => {
        const size = 10 ** (4 * uniform() - 2);
        const count = 1 + Math.floor(5 * uniform());
        return { values: Array.from({ length: count }, () => size * (1 + known * noise())), weight: 0.1 + uniform() };
      });
      // About 3000 groups of three values on average, with different weights: within 2 % of it, two standard errors.
      near(pooledSpread(made)?.relative, known, 0.02 * known);
    });
  }

  test('has a degree of freedom for each repetition where groups weigh the same', () => {
    const made = [
      { values: [1, 1.1], weight: 7 },
      { values: [5, 5.1, 5.2], weight: 7 },
      { values: [3], weight: 7 },
    ];
    near(pooledSpread(made)?.degreesOfFreedom, 3);
  });

  test('has the degrees of freedom of one group if the others have almost no weight', () => {
    const light = Array.from({ length: 50 }, () => ({ values: [1, 2], weight: 1e-9 }));
    const spread = pooledSpread([{ values: [10, 10.1, 10.2], weight: 1 }, ...light]);
    near(spread?.degreesOfFreedom, 2, 1e-6);
    near(spread?.relative, 0.1 / 10.1, 1e-6);
  });

  test('is unknown for groups of one value, of no weight or of no time', () => {
    assert.equal(pooledSpread([]), undefined);
    assert.equal(
      pooledSpread([
        { values: [1], weight: 1 },
        { values: [1, 2], weight: 0 },
        { values: [0, 0], weight: 1 },
      ]),
      undefined,
    );
  });

  test('does not depend on the unit or on a common factor of the weights', () => {
    fc.assert(
      fc.property(groups, fc.double({ min: 0.01, max: 100, noNaN: true }), (made, factor) => {
        const spread = pooledSpread(made);
        const scaled = pooledSpread(
          made.map((group) => ({ values: group.values.map((value) => value * factor), weight: group.weight * factor })),
        );
        if (spread === undefined) assert.equal(scaled, undefined);
        else {
          assert.ok(spread.relative >= 0 && spread.degreesOfFreedom >= 1 - 1e-9);
          near(scaled?.relative, spread.relative);
          near(scaled?.degreesOfFreedom, spread.degreesOfFreedom, 1e-6);
        }
      }),
    );
  });
});

describe('the margin of several errors', () => {
  const sources: fc.Arbitrary<ErrorSource> = fc.record({
    deviationMs: fc.oneof(fc.constant(0), fc.double({ min: 1e-6, max: 10, noNaN: true })),
    degreesOfFreedom: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.constant(Infinity)),
  });

  test('of no errors, or of errors of 0, is 0', () => {
    assert.equal(computeMargin([]), 0);
    assert.equal(computeMargin([{ deviationMs: 0, degreesOfFreedom: 1 }]), 0);
  });

  test('of one known error is 1.96 standard deviations', () => {
    near(computeMargin([{ deviationMs: 3, degreesOfFreedom: Infinity }]), 3 * NORMAL, 0.001);
  });

  test('of one estimated error follows Student', () => {
    for (const degreesOfFreedom of [1, 2, 5, 30]) {
      near(computeMargin([{ deviationMs: 3, degreesOfFreedom }]), 3 * studentQuantile(degreesOfFreedom));
    }
  });

  test('of independent errors follows from their variances, and from the degrees of freedom of both', () => {
    // Satterthwaite: (9 + 16)² / (9² / 4 + 16² / 8) = 625 / 52.25, which is 11.96.
    const margin = computeMargin([
      { deviationMs: 3, degreesOfFreedom: 4 },
      { deviationMs: 4, degreesOfFreedom: 8 },
    ]);
    near(margin, 5 * studentQuantile(625 / 52.25));
  });

  test('is no smaller than that of known errors, and no larger than with a single degree of freedom', () => {
    fc.assert(
      fc.property(fc.array(sources, { maxLength: 8 }), (several) => {
        const deviation = Math.hypot(...several.map(({ deviationMs }) => deviationMs));
        const margin = computeMargin(several);
        assert.ok(margin >= 1.959 * deviation && margin <= studentQuantile(1) * deviation * (1 + 1e-9));
      }),
    );
  });
});
