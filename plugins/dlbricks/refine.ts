import type { Protocol } from '../../src/plugin-api.js';
import { operatorsLabel } from './brick.js';
import { compose, type Estimate, type Part } from './compose.js';
import { type Observations, spreadBetweenOccasions } from './occasions.js';
import { MOST_OCCASIONS, type PreparedModel, repeatTask, type Task } from './plan.js';

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

/** The time of a model's bricks by how often they were measured. */
class Measured {
  private readonly total: number;

  constructor(private readonly estimate: Estimate) {
    this.total = estimate.parts.reduce((sum, part) => sum + this.timeOf(part), 0);
  }

  timeOf({ ms, count }: Part): number {
    return (ms ?? 0) * count;
  }

  /** Whether it is known well enough with the chosen bricks measured once more. */
  suffices(chosen: ReadonlySet<string>, { targetError }: Precision): boolean {
    const share = (valueOf: (occasions: number, isChosen: boolean) => number): number => {
      const sum = this.estimate.parts.reduce((value, part) => {
        return (
          value + (part.occasions === 0 ? 0 : this.timeOf(part) * valueOf(part.occasions, chosen.has(part.benchmark)))
        );
      }, 0);
      return this.total === 0 ? 0 : sum / this.total;
    };
    const twice = share((occasions, isChosen) => (occasions + Number(isChosen) > 1 ? 1 : 0));
    if (this.total > 0 && twice < SHARE_MEASURED_TWICE) return false;
    const { measuringError } = this.estimate;
    if (measuringError === undefined) return true;
    // The error of a mean shrinks with the square root of how many it is of.
    const now = share((occasions) => 1 / Math.sqrt(occasions));
    const then = share((occasions, isChosen) => 1 / Math.sqrt(occasions + Number(isChosen)));
    return now === 0 || (measuringError * then) / now <= targetError;
  }
}

/**
 * The bricks to measure on one more occasion each: those that take the largest share of a model's time for what they
 * cost, of the models that are not known well enough yet. Empty when all are, or the limits are reached.
 */
export function tasksOfNextOccasion(
  models: readonly PreparedModel[],
  observations: Observations,
  protocol: Protocol,
  precision: Precision,
): readonly Task[] {
  const recipes = models.map(({ recipe }) => recipe);
  const spread = spreadBetweenOccasions(recipes, observations);
  const estimates = recipes.map((recipe) => compose(recipe, observations, spread));
  let allowance = allowanceMs(estimates, precision);
  const chosen = new Set<string>();
  const tasks: Task[] = [];
  for (const [index, { recipe, bricks }] of models.entries()) {
    const estimate = estimates[index];
    if (estimate === undefined) continue;
    const measured = new Measured(estimate);
    const worth = (part: Part): number => measured.timeOf(part) / costOf(part);
    const candidates = estimate.parts
      .map((part, at) => ({ part, brick: bricks[at] }))
      .filter(({ part }) => part.occasions > 0 && part.tried < MOST_OCCASIONS)
      .sort((a, b) => worth(b.part) - worth(a.part));
    for (const { part, brick } of candidates) {
      if (measured.suffices(chosen, precision)) break;
      if (brick === undefined || chosen.has(part.benchmark) || costOf(part) > allowance) continue;
      allowance -= costOf(part);
      chosen.add(part.benchmark);
      const occasion = protocol.occasion + part.tried;
      const label = `${recipe.name}: ${operatorsLabel(brick.operators)} (once more)`;
      tasks.push(repeatTask(label, brick, { ...protocol, occasion }));
    }
  }
  return tasks;
}

/** Why a model's bricks were measured no further; undefined where nothing is known of it. */
export function limitOf(estimate: Estimate, { targetError }: Precision): LimitedBy | undefined {
  const { measuringError, parts } = estimate;
  if (measuringError === undefined) return undefined;
  if (measuringError <= targetError) return 'target_error';
  return parts.every(({ occasions, tried }) => occasions === 0 || tried >= MOST_OCCASIONS) ? 'occasions' : 'time';
}
