import { type System, type Task } from '../../../src/plugin-api.js';
import { operatorsLabel } from '../bricks/brick.js';
import type { PreparedModel } from '../bricks/prepare-model.js';
import type { BrickShare, Estimate } from '../estimate/compose.js';
import { predictionErrors } from '../estimate/interval.js';
import { computeHalfWidth, computeMargin } from '../estimate/statistics.js';
import type { CommonError } from '../predict/kernel-predictor.js';
import { computeAim, type Precision } from './next-occasion.js';
import { bricksOfModel, brickTasks, FIRST_OCCASION, type MeasureSettings } from './tasks.js';

export const MEASURE = ['all', 'largest', 'none'] as const;

export type Measure = (typeof MEASURE)[number];

/** The bricks of a model to measure: those that cannot be predicted, then those with the largest errors. */
function chooseLargest(estimate: Estimate, common: CommonError, precision: Precision): readonly BrickShare[] {
  const unmeasured = estimate.parts.filter(({ tried }) => tried === 0);
  const chosen = unmeasured.filter(({ prediction }) => prediction === undefined);
  const errorMs = ({ count, prediction }: BrickShare): number => {
    return prediction === undefined ? 0 : count * prediction.ms * (prediction.ownError + common.relative);
  };
  const left = unmeasured.filter(({ prediction }) => prediction !== undefined).sort((a, b) => errorMs(a) - errorMs(b));
  const ms = estimate.sequential?.ms ?? 0;
  const computeWidth = (parts: readonly BrickShare[]): number => {
    const predicted = parts.flatMap(({ prediction, count }) =>
      prediction === undefined ? [] : [{ prediction, count }],
    );
    return ms > 0 ? computeMargin(predictionErrors(predicted, common)) / ms : 0;
  };
  const before = computeWidth(left);
  const rest = Math.sqrt(Math.max(0, (computeHalfWidth(estimate.sequential) ?? before) ** 2 - before ** 2));
  while (left.length > 0 && Math.hypot(rest, computeWidth(left)) > computeAim(estimate, precision)) {
    const largest = left.pop();
    if (largest !== undefined) chosen.push(largest);
  }
  return chosen;
}

/** Those that narrow intervals most, until all are as narrow as asked for, and those that cannot be predicted. */
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
    const chosen = new Set(chooseLargest(estimate, common, precision).map(({ benchmark }) => benchmark));
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
