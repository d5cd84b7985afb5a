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
  const unknown = unmeasured.filter(({ prediction }) => prediction === undefined);
  const predicted = unmeasured.flatMap((part) => {
    const { prediction, count } = part;
    if (prediction === undefined) return [];
    return [{ part, prediction, count, errorMs: count * prediction.ms * (prediction.ownError + common.relative) }];
  });
  predicted.sort((a, b) => b.errorMs - a.errorMs);
  const ms = estimate.sequential?.ms ?? 0;
  const widthWithout = (chosen: number): number => {
    return ms > 0 ? computeMargin(predictionErrors(predicted.slice(chosen), common)) / ms : 0;
  };
  const before = widthWithout(0);
  const rest = Math.sqrt(Math.max(0, (computeHalfWidth(estimate.sequential) ?? before) ** 2 - before ** 2));
  const aim = computeAim(estimate, precision);
  let chosen = 0;
  while (chosen < predicted.length && Math.hypot(rest, widthWithout(chosen)) > aim) chosen++;
  return [...unknown, ...predicted.slice(0, chosen).map(({ part }) => part)];
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
