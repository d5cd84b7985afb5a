import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compose } from '../../../../plugins/dlbricks/estimate/compose.js';
import { groupObservations } from '../../../../plugins/dlbricks/estimate/brick-latency.js';
import { type Measure, largestTasks } from '../../../../plugins/dlbricks/measure/largest.js';
import { settingsSchema } from '../../../../plugins/dlbricks/settings.js';
import { computeHalfWidth } from '../../../../plugins/dlbricks/estimate/statistics.js';
import type { KernelPredictor, Prediction } from '../../../../plugins/dlbricks/predict/kernel-predictor.js';
import { LIMITS, PROTOCOL, SYSTEM } from '../../../store/sample-measurement.js';
import {
  measuredCall,
  measuredTogetherOn,
  preparedOf,
  recipeTogether,
  surrounded,
} from '../support/measured-bricks.js';
import { commonSpread } from '../support/spreads.js';

/** What `measure` in an evaluation's manifest may be. */
const WAYS: readonly Measure[] = ['all', 'largest', 'none'];

const SETTINGS = { runOptions: SYSTEM.runOptions, protocol: PROTOCOL, limits: LIMITS };

const NO_COMMON = { relative: 0, degreesOfFreedom: Infinity };

/** Milliseconds and own error of each brick; undefined for one that cannot be predicted. */
type Predicted = readonly (readonly [ms: number, ownError: number] | undefined)[];

/** The labels of the bricks that are measured to reach a target. @param measured bricks */
function chosen(
  predicted: Predicted,
  targetError: number,
  { common = NO_COMMON, measured = [] as readonly number[], names = ['model'] } = {},
): readonly string[] {
  const predictor = {
    commonError: common,
    predict: ([kernel]: readonly { readonly operator: string }[]): Prediction | { kind: 'unknown'; reason: string } => {
      const { [Number(kernel?.operator)]: one } = predicted;
      return one ? { kind: 'predicted', ms: one[0], ownError: one[1] } : { kind: 'unknown', reason: 'never measured' };
    },
  } as unknown as KernelPredictor;
  const observations = groupObservations([measuredCall, ...measured.map((brick) => measuredTogetherOn(1, brick, 10))]);
  const facts = predicted.map((_, brick) => [{ operator: String(brick) }]);
  const models = names.map((name) =>
    preparedOf(
      recipeTogether(
        predicted.map(() => 1),
        { name },
      ),
    ),
  );
  const estimates = models.map(({ recipe }) => {
    return compose({ ...surrounded(recipe), facts }, observations, undefined, predictor);
  });
  const precision = { targetError, repeatLimit: 1, leastRepeatMs: 0 };
  return largestTasks(models, estimates, common, SYSTEM, SETTINGS, precision).map(({ label }) => label);
}

for (const measure of WAYS) {
  test(`a manifest may ask for measure: ${measure}`, () => {
    assert.equal(settingsSchema.parse({ measure }).measure, measure);
  });
}

describe('the bricks to measure', () => {
  test('are those with the largest errors, until the interval is narrow enough', () => {
    const predicted: Predicted = [
      [10, 0.02],
      [10, 0.5],
      [1, 0.5],
      [10, 0.01],
    ];
    assert.deepEqual(chosen(predicted, 1), []);
    assert.deepEqual(chosen(predicted, 0.05), ['model: Op1']);
    assert.deepEqual(chosen(predicted, 0.02), ['model: Op1', 'model: Op2']);
    assert.deepEqual(chosen(predicted, 0.008), ['model: Op0', 'model: Op1', 'model: Op2']);
    assert.deepEqual(chosen(predicted, 0), ['model: Op0', 'model: Op1', 'model: Op2', 'model: Op3']);
  });

  test('are the longest where all have the same error', () => {
    const common = { relative: 0.1, degreesOfFreedom: Infinity };
    const predicted: Predicted = [
      [1, 0],
      [10, 0],
      [2, 0],
    ];
    assert.deepEqual(chosen(predicted, 0.06, { common }), ['model: Op1']);
  });

  test('are as many as make the interval narrow enough once they are measured, beside its other errors', () => {
    const kernels = 10;
    const recipe = recipeTogether(Array.from({ length: kernels }, () => 1));
    const facts = recipe.bricks.map((_, brick) => [{ operator: String(brick) }]);
    const predictor = {
      commonError: NO_COMMON,
      predict: (): Prediction => ({ kind: 'predicted', ms: 10, ownError: 0.08 }),
    } as unknown as KernelPredictor;
    const estimateWith = (measured: number) => {
      const bricks = Array.from({ length: measured }, (_, brick) => measuredTogetherOn(1, brick, 10));
      const observations = groupObservations([measuredCall, ...bricks]);
      return compose({ ...surrounded(recipe), facts }, observations, commonSpread(0.001, 100), predictor);
    };
    const widths = Array.from({ length: kernels }, (_, measured) => {
      return computeHalfWidth(estimateWith(measured).sequential) ?? assert.fail();
    });
    for (const [needed, width] of widths.entries()) {
      const precision = { targetError: width * 1.001, repeatLimit: 1, leastRepeatMs: 0 };
      const tasks = largestTasks([preparedOf(recipe)], [estimateWith(0)], NO_COMMON, SYSTEM, SETTINGS, precision);
      assert.equal(tasks.length, needed);
    }
  });

  test('are those that cannot be predicted, whatever the target', () => {
    assert.deepEqual(chosen([[10, 0.1], undefined, [10, 0.1]], 1), ['model: Op1']);
  });

  test('are none that are measured already, and each once for several models', () => {
    assert.deepEqual(chosen([undefined, undefined], 1, { measured: [0] }), ['model: Op1']);
    assert.deepEqual(chosen([undefined, undefined], 1, { names: ['one', 'two'] }), ['one: Op0', 'one: Op1']);
  });
});
