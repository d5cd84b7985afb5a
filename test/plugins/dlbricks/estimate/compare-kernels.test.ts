import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type CheckedRun,
  compareKernels,
  type ModelCheck,
} from '../../../../plugins/dlbricks/estimate/compare-kernels.js';
import { groupObservations } from '../../../../plugins/dlbricks/estimate/brick-latency.js';
import { near } from '../../../support/near.js';
import { crashed, measuredTogetherOn, OVERHEAD_MS, recipeTogether, surrounded } from '../support/measured-bricks.js';
import { commonSpread } from '../support/spreads.js';

const SPREAD = commonSpread(0.02, 20);

/** Brick 0 twice and brick 1 once, 10 and 4 ms. */
const model = surrounded(recipeTogether([2, 1]));
const measured = [measuredTogetherOn(1, 0, 10), measuredTogetherOn(1, 1, 4)];

/** Kernels of a whole graph with these times, and the overhead of the profile. */
function runOf(times: readonly (number | null)[], innerRuns = 0): CheckedRun {
  const kernels = times.map((ms) => (ms === null ? null : { ms: ms + OVERHEAD_MS * (1 + innerRuns), innerRuns }));
  return { kind: 'run', wholeMs: 30, kernels, names: times.map((_, index) => `node${index}`), costMs: 500 };
}

function compared(run: CheckedRun, observations = measured): Extract<ModelCheck, { kind: 'compared' }> {
  const check = compareKernels(model, groupObservations(observations), run, SPREAD);
  assert.ok(check.kind === 'compared');
  return check;
}

describe('bricks beside the kernels of one run of their whole graph', () => {
  test('agree if both take the same time without the profile', () => {
    const { bricks, kernelsMs, bricksMs } = compared(runOf([10, 10, 4]));
    near(kernelsMs, 24);
    near(bricksMs, 24);
    assert.deepEqual(
      bricks.map(({ isOutside }) => isOutside),
      [false, false],
    );
  });

  test('are named if they differ by more than their interval, the largest difference first', () => {
    const { bricks } = compared(runOf([10.1, 10, 6]));
    const [worst, other] = bricks;
    assert.deepEqual([worst?.operators, worst?.kernel, worst?.sequences], [['Op1'], 'node2', 1]);
    near(worst?.kernelsMs, 6);
    near(worst?.bricksMs, 4);
    assert.deepEqual([other?.kernel, other?.sequences], ['node0', 2]);
    assert.deepEqual([worst?.isOutside, other?.isOutside], [true, false]);
  });

  test('have no verdict without a spread between occasions', () => {
    const check = compareKernels(model, groupObservations(measured), runOf([10, 10, 9]), undefined);
    assert.ok(check.kind === 'compared');
    assert.equal(check.bricks[0]?.isOutside, null);
  });

  test('are compared without the profile of each kernel in their subgraphs', () => {
    near(compared(runOf([10, 10, 4], 7)).kernelsMs, 24);
  });

  test('are not named for a difference that the profile of their subgraphs may have made', () => {
    const outside = (innerRuns: number): readonly unknown[] =>
      compared(runOf([10, 10, 6], innerRuns)).bricks.map(({ isOutside }) => isOutside);
    assert.deepEqual(outside(7), [true, false]);
    assert.deepEqual(outside(1000), [false, false]);
  });

  test('are left out if they failed, or if the profile does not have their kernel', () => {
    const { bricks, kernelsMs } = compared(runOf([10, null, 4]), [
      measuredTogetherOn(1, 0, 10),
      measuredTogetherOn(1, 1, crashed),
    ]);
    near(kernelsMs, 10);
    assert.deepEqual(
      bricks.map(({ operators, sequences }) => [operators, sequences]),
      [[['Op0'], 1]],
    );
  });

  test('are not compared if kernels were measured together, without the profile', () => {
    const { recipe, context } = model;
    const copies = { copies: 4, benchmark: '0'.repeat(64), baseline: '1'.repeat(64) };
    const joined = recipe.bricks.map((brick) => ({ ...brick, operators: ['Add', 'Mul'], context: copies }));
    const given = { recipe: { ...recipe, bricks: joined }, context };
    const check = compareKernels(given, groupObservations(measured), runOf([10, 10, 4]), SPREAD);
    assert.ok(check.kind === 'failed' && /without the profile/.test(check.reason));
  });

  test('have a reason if there was no run', () => {
    const failed = { kind: 'failed', reason: 'no profile' } as const;
    assert.deepEqual(compareKernels(model, groupObservations(measured), failed, SPREAD), failed);
  });
});
