import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  areAlike,
  computeCommonSpread,
  type Occurrence,
  spreadOfBrick,
  varianceComponents,
} from '../../../../plugins/dlbricks/estimate/variance-components.js';
import { near } from '../../../support/near.js';
import { normalNumbers, uniformNumbers } from '../support/noise.js';

interface Made {
  readonly common: number;
  readonly own: number;
  /** Numbers of composites, of bricks in each, and of occasions. */
  readonly composites: number;
  readonly bricks: number;
  readonly occasions: number;
  /** Share of the bricks that a further occasion measures. */
  readonly again?: number;
  readonly seed?: number;
}

/** Bricks of 0.1 to 10 ms in composites; what bricks of a composite have in common differs on each occasion. */
function made({ common, own, composites, bricks, occasions, again = 1, seed = 1 }: Made): readonly Occurrence[] {
  const noise = normalNumbers(seed);
  const uniform = uniformNumbers(seed + 1);
  return Array.from({ length: composites }, (_, composite) => {
    const sizes = Array.from({ length: bricks }, () => 10 ** (2 * uniform() - 1));
    return Array.from({ length: occasions }, (_, occasion) => {
      const drift = common * noise();
      return sizes.flatMap((size, brick): Occurrence[] => {
        if (occasion > 0 && uniform() > again) return [];
        const ms = size * (1 + drift + own * noise());
        return [{ brick: `${composite}/${brick}`, process: `${composite}/${occasion}`, ms }];
      });
    }).flat();
  }).flat();
}

describe('the two components of the spread', () => {
  const cases: Readonly<Record<string, Made>> = {
    'both count': { common: 0.02, own: 0.04, composites: 400, bricks: 12, occasions: 2 },
    'bricks have nothing in common': { common: 0, own: 0.03, composites: 400, bricks: 12, occasions: 2 },
    'bricks have nothing of their own': { common: 0.03, own: 0, composites: 400, bricks: 6, occasions: 3 },
    'only some bricks are measured again': {
      common: 0.02,
      own: 0.04,
      composites: 400,
      bricks: 16,
      occasions: 3,
      again: 0.6,
    },
  };
  for (const [what, of] of Object.entries(cases)) {
    test(`are those that the values were made with if ${what}`, () => {
      const components = varianceComponents(made(of)) ?? assert.fail();
      near(computeCommonSpread(components), of.common, 0.002);
      near(components.own.relative, of.own, 0.002);
      near(spreadOfBrick(components), Math.hypot(of.common, of.own), 0.002);
    });
  }

  test('of two bricks in two processes are those of a two-way table', () => {
    // Deviations: -0.02 and 0.02, -0.04 and 0.04; equal weights. The process explains 2 · 2 · 0.03² of 0.004 · 2.
    const rows = [0.02, 0.04].flatMap((d, brick) => {
      return [1 - d, 1 + d].map((ms, process) => ({ brick: `${brick}`, process: `${process}`, ms }));
    });
    const { processes, ownShare, own } = varianceComponents(rows) ?? assert.fail();
    // One process gets the effect -0.03, the other 0.03, and the rests are 0.01: 4 · 0.01² with one degree of freedom.
    near(own.relative ** 2, 4 * 0.01 ** 2);
    near(own.degreesOfFreedom, 1);
    near(processes.relative ** 2, (4 * 0.03 ** 2) / 2);
    near(processes.degreesOfFreedom, 1);
    near(ownShare, 1 / 2);
  });

  test('have a degree of freedom for each further process of the same bricks, also over several models', () => {
    const degrees = (composites: number, occasions: number): number | undefined =>
      varianceComponents(made({ common: 0.02, own: 0.01, composites, bricks: 5, occasions }))?.processes
        .degreesOfFreedom;
    near(degrees(1, 2), 1);
    near(degrees(1, 4), 3, 1e-6);
    // Composites differ in their time, so that some count more than others.
    assert.ok((degrees(10, 2) ?? NaN) > 5 && (degrees(10, 2) ?? NaN) <= 10);
  });

  test('cannot be told apart if each process has one brick: all counts as common', () => {
    const alone = made({ common: 0.01, own: 0.02, composites: 300, bricks: 1, occasions: 2 });
    const components = varianceComponents(alone) ?? assert.fail();
    assert.deepEqual([components.ownShare, components.own.relative], [1, 0]);
    near(computeCommonSpread(components), Math.hypot(0.01, 0.02), 0.002);
  });

  test('are unknown without a brick in two processes, and for bricks that take no time', () => {
    assert.equal(varianceComponents([]), undefined);
    assert.equal(
      varianceComponents(made({ common: 0.1, own: 0.1, composites: 5, bricks: 5, occasions: 1 })),
      undefined,
    );
    const nothing = [0, 1].map((process) => ({ brick: 'a', process: `${process}`, ms: 0 }));
    assert.equal(varianceComponents(nothing), undefined);
  });

  test('do not depend on the order of measurements, or on the unit', () => {
    const values = made({ common: 0.02, own: 0.04, composites: 3, bricks: 4, occasions: 3, again: 0.7 });
    const expected = varianceComponents(values) ?? assert.fail();
    const turned = varianceComponents(values.map((one) => ({ ...one, ms: one.ms * 1e3 })).reverse()) ?? assert.fail();
    near(turned.processes.relative, expected.processes.relative, 1e-9);
    near(turned.own.relative, expected.own.relative, 1e-9);
    near(turned.processes.degreesOfFreedom, expected.processes.degreesOfFreedom, 1e-6);
  });
});

describe('the comparison of earlier runs with this one', () => {
  const componentsOf = (factor: number, seed: number) =>
    varianceComponents(
      made({ common: 0.02 * factor, own: 0.04 * factor, composites: 6, bricks: 10, occasions: 3, seed }),
    ) ?? assert.fail();

  test('finds a machine in the same state alike in about 90 of 100 cases, at 5 % for each component', () => {
    const alike = Array.from({ length: 200 }, (_, seed) =>
      areAlike(componentsOf(1, seed), componentsOf(1, seed + 1000)),
    );
    const share = alike.filter(Boolean).length / alike.length;
    assert.ok(share >= 0.82 && share <= 0.97, `${share}`);
  });

  test('finds a busy hour and a quiet one different, whichever was first', () => {
    assert.equal(areAlike(componentsOf(6, 1), componentsOf(1, 2)), false);
    assert.equal(areAlike(componentsOf(1, 1), componentsOf(6, 2)), false);
  });
});
