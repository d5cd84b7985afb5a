import { operatorsLabel } from '../bricks/brick.js';
import { contextOf } from '../bricks/needs.js';
import type { PreparedModel } from '../bricks/prepare-model.js';
import { spreadBetweenOccasions } from '../estimate/brick-latency.js';
import { compose, type Estimate, type Part } from '../estimate/compose.js';
import type { Observations } from '../estimate/observations.js';
import type { System } from '../../../src/plugin-api.js';
import { bricksOfModel, brickTasks, FIRST_OCCASION, type MeasureSettings, MOST_OCCASIONS, type Task } from './tasks.js';

/** How well bricks have to be measured, and what that may cost. */
export interface Precision {
  /** Bricks are measured on further occasions until their part of a model's interval is within this, relative: 0.05 is 5 %. */
  readonly targetError: number;
  /** Wall time that further occasions may cost, as a multiple of what the first ones did. */
  readonly mostRepetition: number;
}

/** Why a model's bricks were measured no further. */
export type LimitedBy = 'target_error' | 'occasions' | 'time';

/** At least this share of each model's time is measured twice, so that something is known of how occasions differ. */
const SHARE_MEASURED_TWICE = 0.5;

/** Wall time that one occasion of a brick costs, ms. */
function costOf({ costMs, occasions }: Part): number {
  return costMs / Math.max(1, occasions);
}

/** Time that a brick takes in its model, ms. */
function timeOf({ ms, count }: Part): number {
  return (ms ?? 0) * count;
}

/** Everything that is measured for several models' bricks once. */
function distinctParts(estimates: readonly Estimate[]): readonly Part[] {
  return [...new Map(estimates.flatMap(({ parts }) => parts).map((part) => [part.benchmark, part])).values()];
}

/** What further occasions may still cost, ms. */
function allowanceMs(estimates: readonly Estimate[], { mostRepetition }: Precision): number {
  return distinctParts(estimates).reduce((sum, part) => {
    return part.occasions === 0 ? sum : sum + costOf(part) * (mostRepetition - (part.tried - 1));
  }, 0);
}

/** How well a model is known, were the chosen bricks measured once more; kept up to date as bricks are chosen. */
class Knowledge {
  private total = 0;
  /** Time that is measured more than once. */
  private twice = 0;
  /** Time of each brick over the square root of its occasions, which the error of its mean goes with: now, and then. */
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

  /** Counts a brick as measured once more. */
  choose(part: Part): void {
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
 * The bricks to measure on one more occasion each: those that take the largest share of a model's time for what they
 * cost, of the models that are not known well enough yet. Empty when all are, or the limits are reached.
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
    const worth = (part: Part): number => timeOf(part) / costOf(part);
    const candidates = estimate.parts
      .map((part, at) => ({ part, brick: bricks[at] }))
      .filter(({ part }) => part.occasions > 0 && part.tried < MOST_OCCASIONS)
      .sort((a, b) => worth(b.part) - worth(a.part));
    const ofModel = new Set<Part>();
    for (const { part } of candidates) {
      if (known.suffices(precision)) break;
      if (chosen.has(part.benchmark) || costOf(part) > allowance) continue;
      allowance -= costOf(part);
      chosen.add(part.benchmark);
      ofModel.add(part);
      known.choose(part);
    }
    // In the model's order, so that bricks that are measured together find their neighbours.
    for (const [at, part] of estimate.parts.entries()) {
      const brick = bricks[at];
      if (brick === undefined || !ofModel.has(part)) continue;
      const label = `${model.recipe.name}: ${operatorsLabel(brick.brick.operators)} (again)`;
      tasks.push(...brickTasks(label, brick, FIRST_OCCASION + part.tried, settings));
    }
  }
  return tasks.toSorted((a, b) => a.request.occasion - b.request.occasion);
}

/** Why a model's bricks were measured no further; undefined where nothing is known of it. */
export function limitOf(estimate: Estimate, { targetError }: Precision): LimitedBy | undefined {
  const { measuringError, parts } = estimate;
  if (measuringError === undefined) return undefined;
  if (measuringError <= targetError) return 'target_error';
  return parts.every(({ occasions, tried }) => occasions === 0 || tried >= MOST_OCCASIONS) ? 'occasions' : 'time';
}
