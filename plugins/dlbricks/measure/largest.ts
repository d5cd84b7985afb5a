import { type System, type Task } from '../../../src/plugin-api.js';
import { operatorsLabel } from '../bricks/brick.js';
import type { PreparedModel } from '../bricks/prepare-model.js';
import type { BrickShare, Estimate } from '../estimate/compose.js';
import { predictionErrors } from '../estimate/interval.js';
import { halfWidthOf, marginOf } from '../estimate/statistics.js';
import type { CommonError } from '../predict/kernel-predictor.js';
import { aimOf, type Precision } from './next-occasion.js';
import { bricksOfModel, brickTasks, FIRST_OCCASION, type MeasureSettings } from './tasks.js';

/** The bricks that an evaluation measures: all, those that narrow intervals most, or none. */
export const MEASURE = ['all', 'largest', 'none'] as const;

export type Measure = (typeof MEASURE)[number];

/** The bricks of a model to measure: those that cannot be predicted, then those with the largest errors. */
function chosenOf(estimate: Estimate, common: CommonError, precision: Precision): readonly BrickShare[] {
  const unmeasured = estimate.parts.filter(({ tried }) => tried === 0);
  const chosen = unmeasured.filter(({ prediction }) => prediction === undefined);
  const errorMs = ({ count, prediction }: BrickShare): number => {
    return prediction === undefined ? 0 : count * prediction.ms * (prediction.ownError + common.relative);
  };
  const left = unmeasured.filter(({ prediction }) => prediction !== undefined).sort((a, b) => errorMs(a) - errorMs(b));
  const ms = estimate.sequential?.ms ?? 0;
  const widthOf = (parts: readonly BrickShare[]): number => {
    const predicted = parts.flatMap(({ prediction, count }) =>
      prediction === undefined ? [] : [{ prediction, count }],
    );
    return ms > 0 ? marginOf(predictionErrors(predicted, common)) / ms : 0;
  };
  const before = widthOf(left);
  const rest = Math.sqrt(Math.max(0, (halfWidthOf(estimate.sequential) ?? before) ** 2 - before ** 2));
  while (left.length > 0 && Math.hypot(rest, widthOf(left)) > aimOf(estimate, precision)) {
    const largest = left.pop();
    if (largest !== undefined) chosen.push(largest);
  }
  return chosen;
}

/**
 * The bricks that were never measured and whose measurement narrows the intervals of their models most, until all
 * intervals are as narrow as asked for; bricks that cannot be predicted in any case.
 *
 * @param estimates of the models, in their order
 */
export function largestTasks(
  models: readonly PreparedModel[],
  estimates: readonly Estimate[],
  common: CommonError,
  system: System,
  settings: MeasureSettings,
  precision: Precision,
): readonly Task[] {
  const planned = new Set<string>();
  return models.flatMap((model, index) => {
    const estimate = estimates[index];
    if (estimate === undefined) return [];
    const chosen = new Set(chosenOf(estimate, common, precision).map(({ benchmark }) => benchmark));
    // In the model's order, so that neighbours are measured together.
    return bricksOfModel(model, system).flatMap((brick, at) => {
      const key = estimate.parts[at]?.benchmark ?? '';
      if (!chosen.has(key) || planned.has(key)) return [];
      planned.add(key);
      const label = `${model.recipe.name}: ${operatorsLabel(brick.brick.operators)}`;
      return brickTasks(label, brick, FIRST_OCCASION, settings);
    });
  });
}
