import { operatorsLabel } from '../bricks/brick.js';
import { contextOf, type Need } from '../bricks/needs.js';
import type { PreparedModel } from '../bricks/prepare-model.js';
import { spreadBetweenOccasions } from '../estimate/brick-latency.js';
import { compose, type Estimate, type BrickShare } from '../estimate/compose.js';
import type { Observations } from '../estimate/observations.js';
import { isColdFootprint, type System, type Task } from '../../../src/plugin-api.js';
import { bricksOfModel, brickTasks, FIRST_OCCASION, type MeasureSettings, MOST_OCCASIONS } from './tasks.js';

/** The precision that bricks need, and its cost limit. */
export interface Precision {
  /** Bricks are measured on further occasions until their part of a model's interval is within this, relative: 0.05 is 5 %. */
  readonly targetError: number;
  /** Limit of the wall time of further occasions, as a multiple of the wall time of the first ones. */
  readonly repeatLimit: number;
  /** Wall time that further occasions may always take, unless the limit is 0; ms. */
  readonly leastRepeatMs: number;
}

/** Why a model's bricks were not measured on more occasions. */
export type LimitedBy = 'target_error' | 'occasions' | 'time';

/** At least this share of each model's time is measured twice, so that the spread between occasions is known. */
const SHARE_MEASURED_TWICE = 0.5;

/** Wall time of one occasion of a brick, ms. */
function costOf({ costMs, occasions }: BrickShare): number {
  return costMs / occasions;
}

/** Time that a brick takes in its model, ms. */
function timeOf({ ms, count }: BrickShare): number {
  return (ms ?? 0) * count;
}

/** The bricks of several models, each measurement once. */
function distinctParts(estimates: readonly Estimate[]): readonly BrickShare[] {
  return [...new Map(estimates.flatMap(({ parts }) => parts).map((part) => [part.benchmark, part])).values()];
}

/** Wall time that is left for further occasions, ms. */
function allowanceMs(estimates: readonly Estimate[], { repeatLimit, leastRepeatMs }: Precision): number {
  let [onceMs, usedMs] = [0, 0];
  for (const part of distinctParts(estimates)) {
    if (part.occasions === 0) continue;
    onceMs += costOf(part);
    usedMs += costOf(part) * (part.tried - 1);
  }
  return (repeatLimit === 0 ? 0 : Math.max(onceMs * repeatLimit, leastRepeatMs)) - usedMs;
}

/** Precision of a model once the chosen bricks are measured on another occasion; updated as bricks are chosen. */
class Knowledge {
  private total = 0;
  /** Time that is measured more than once. */
  private twice = 0;
  /**
   * Each brick's time over the square root of its occasions, to which the standard error of its mean is proportional:
   * now, and after the next occasion.
   */
  private readonly now: number;
  private then = 0;

  constructor(
    private readonly estimate: Estimate,
    chosen: ReadonlySet<string>,
  ) {
    for (const part of estimate.parts) {
      if (part.occasions === 0) continue;
      const time = timeOf(part);
      this.total += time;
      this.then += time / Math.sqrt(part.occasions);
      if (part.occasions > 1) this.twice += time;
    }
    this.now = this.then;
    for (const part of estimate.parts) if (chosen.has(part.benchmark)) this.choose(part);
  }

  /** Counts a brick as measured on another occasion. */
  choose(part: BrickShare): void {
    const time = timeOf(part);
    this.then += time / Math.sqrt(part.occasions + 1) - time / Math.sqrt(part.occasions);
    if (part.occasions === 1) this.twice += time;
  }

  suffices({ targetError }: Precision): boolean {
    if (this.total > 0 && this.twice / this.total < SHARE_MEASURED_TWICE) return false;
    const { measuringError } = this.estimate;
    return measuringError === undefined || this.now === 0 || (measuringError * this.then) / this.now <= targetError;
  }
}

/**
 * Whether the bricks of a model in this context are measured in composites of their own. There, some of the bricks
 * alone would find warmer caches than all of them together, since less time passes between two runs.
 */
function isMeasuredApart(context: Need['context'], system: System): boolean {
  return context !== undefined && !isColdFootprint(context.footprintBytes, system.cacheBytes);
}

/**
 * The bricks to measure on one more occasion each: those of the models that are not precise enough yet, the largest
 * share of a model's time for its cost first, or all of them where they have composites of their own. Empty when all
 * models are precise enough or the limits are reached.
 */
export function tasksOfNextOccasion(
  models: readonly PreparedModel[],
  observations: Observations,
  system: System,
  settings: MeasureSettings,
  precision: Precision,
): readonly Task[] {
  const recipes = models.map(({ recipe }) => ({ recipe, context: contextOf(recipe, system) }));
  const spread = spreadBetweenOccasions(recipes, observations);
  const estimates = recipes.map((recipe) => compose(recipe, observations, spread));
  let allowance = allowanceMs(estimates, precision);
  const chosen = new Set<string>();
  const tasks: Task[] = [];
  for (const [index, model] of models.entries()) {
    const estimate = estimates[index];
    if (estimate === undefined) continue;
    const known = new Knowledge(estimate, chosen);
    const bricks = bricksOfModel(model, system);
    const worth = (part: BrickShare): number => timeOf(part) / costOf(part);
    const candidates = estimate.parts
      .map((part, at) => ({ part, brick: bricks[at] }))
      .filter(({ part }) => part.occasions > 0 && part.tried < MOST_OCCASIONS)
      .sort((a, b) => worth(b.part) - worth(a.part));
    const ofModel = new Set<BrickShare>();
    const choose = (part: BrickShare): void => {
      allowance -= costOf(part);
      chosen.add(part.benchmark);
      ofModel.add(part);
      known.choose(part);
    };
    for (const { part } of candidates) {
      if (known.suffices(precision)) break;
      if (!chosen.has(part.benchmark) && costOf(part) <= allowance) choose(part);
    }
    const others = candidates.map(({ part }) => part).filter(({ benchmark }) => !chosen.has(benchmark));
    const othersMs = others.reduce((sum, part) => sum + costOf(part), 0);
    if (ofModel.size > 0 && isMeasuredApart(recipes[index]?.context, system) && othersMs <= allowance)
      others.forEach(choose);
    // In the model's order, so that neighbours are measured together.
    for (const [at, part] of estimate.parts.entries()) {
      const brick = bricks[at];
      if (brick === undefined || !ofModel.has(part)) continue;
      const label = `${model.recipe.name}: ${operatorsLabel(brick.brick.operators)} (again)`;
      tasks.push(...brickTasks(label, brick, FIRST_OCCASION + part.tried, settings));
    }
  }
  return tasks.toSorted((a, b) => a.request.occasion - b.request.occasion);
}

/** Why a model's bricks were not measured on more occasions; undefined where nothing is known. */
export function limitOf(estimate: Estimate, { targetError }: Precision): LimitedBy | undefined {
  const { measuringError, parts } = estimate;
  if (measuringError === undefined) return undefined;
  if (measuringError <= targetError) return 'target_error';
  return parts.every(({ occasions, tried }) => occasions === 0 || tried >= MOST_OCCASIONS) ? 'occasions' : 'time';
}
