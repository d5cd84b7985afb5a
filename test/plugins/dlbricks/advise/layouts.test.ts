import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../../support/property.js';
import { leastWithChanges, type LayoutProblem } from '../../../../plugins/dlbricks/advise/layouts.js';

/** The least over all choices, one after another. */
function leastOfAll({ plain, blocked, changes }: LayoutProblem): number {
  const units = plain.length;
  let least = Infinity;
  for (let choice = 0; choice < 2 ** units; choice++) {
    const isBlocked = (unit: number): boolean => ((choice >> unit) & 1) === 1;
    let sum = 0;
    for (let unit = 0; unit < units; unit++) sum += (isBlocked(unit) ? blocked[unit] : plain[unit]) ?? 0;
    for (const { from, to, cost } of changes) if (isBlocked(from) !== isBlocked(to)) sum += cost;
    least = Math.min(least, sum);
  }
  return least;
}

const time = fc.integer({ min: 0, max: 100 });

const problems: fc.Arbitrary<LayoutProblem> = fc.integer({ min: 1, max: 7 }).chain((units) => {
  const unit = fc.integer({ min: 0, max: units - 1 });
  const times = fc.array(time, { minLength: units, maxLength: units });
  const changes = fc.array(fc.record({ from: unit, to: unit, cost: time }), { maxLength: 12 });
  return fc.record({ plain: times, blocked: times, changes });
});

describe('the layout of each unit', () => {
  test('is the best of all choices', () => {
    fc.assert(
      fc.property(problems, (problem) => {
        assert.ok(Math.abs(leastWithChanges(problem) - leastOfAll(problem)) < 1e-6);
      }),
    );
  });

  test('a faster variant that needs two changes of layout may be worth nothing', () => {
    const changes = [
      { from: 0, to: 1, cost: 2 },
      { from: 1, to: 2, cost: 2 },
    ];
    const plain = [Infinity, 7, Infinity];
    assert.equal(leastWithChanges({ plain, blocked: [5, 10, 5], changes }), 20);
    assert.equal(leastWithChanges({ plain, blocked: [5, 12, 5], changes }), 21);
  });
});
