import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compose } from '../../../../plugins/dlbricks/estimate/compose.js';
import { groupObservations } from '../../../../plugins/dlbricks/estimate/brick-latency.js';
import { near } from '../../../support/near.js';
import {
  CALL_MS,
  crashed,
  measuredCall,
  measuredTogetherOn,
  surrounded,
  recipeTogether,
} from '../support/measured-bricks.js';
import { commonSpread } from '../support/spreads.js';

const SPREAD = commonSpread(0.02, 20);

/** Brick 0 three times and brick 1 once; the last two sequences depend on made-up values. */
const recipe = {
  ...recipeTogether([3, 1]),
  made_up_values: { operators: [{ operator: 'NonMaxSuppression', count: 1 }], kernels: 2, sequences: [2, 3] },
};
const bricks = [measuredTogetherOn(1, 0, 10), measuredTogetherOn(1, 1, 4)];

describe('an estimate that depends on made-up values', () => {
  const estimate = compose(surrounded(recipe), groupObservations([measuredCall, ...bricks]), SPREAD);

  test('covers only the sequences that do not depend on them, although all are measured', () => {
    assert.deepEqual([estimate.coverage, estimate.isWhole, estimate.missing], [0.5, true, []]);
  });

  test('has the sum of all bricks, but no upper end, and the lower end of the other sequences', () => {
    near(estimate.sequential?.ms, 3 * 10 + 4 + CALL_MS);
    assert.equal(estimate.sequential?.highMs, undefined);
    const others = { ...recipe, sequences: [0, 0], made_up_values: undefined };
    const ofOthers = compose(surrounded(others), groupObservations([measuredCall, ...bricks]), SPREAD);
    near(estimate.sequential?.lowMs, ofOthers.sequential?.lowMs ?? NaN);
    assert.ok((estimate.sequential?.lowMs ?? 0) > 15);
  });

  test('does not count a sequence twice that was not measured either', () => {
    const partial = compose(
      surrounded(recipe),
      groupObservations([measuredCall, measuredTogetherOn(1, 0, 10), measuredTogetherOn(1, 1, crashed)]),
    );
    assert.deepEqual([partial.coverage, partial.isWhole], [0.5, false]);
  });

  test('has no lower end above 0 if everything depends on them', () => {
    const all = { ...recipe, made_up_values: { ...recipe.made_up_values, sequences: [0, 1, 2, 3] } };
    const nothing = compose(surrounded(all), groupObservations([measuredCall, ...bricks]), SPREAD);
    assert.deepEqual([nothing.coverage, nothing.sequential?.lowMs], [0, 0]);
  });
});
