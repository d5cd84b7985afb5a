import { contextOf } from '../bricks/needs.js';
import { countsOf, type ModelRecipe } from '../bricks/recipe.js';
import { brickKey, brickLatency } from '../estimate/brick-latency.js';
import type { Observations } from '../estimate/observations.js';
import type { System } from '../../../src/plugin-api.js';

/** How much of a model is what others have as well. Shares are from 0 to 1. */
export interface ModelSharing {
  readonly name: string;
  readonly layers: number;
  /** Sequences at the cut: layers, kernels or blocks. */
  readonly sequences: number;
  readonly unique: number;
  /** Sequences that repeat an earlier one of the same model. */
  readonly ownRepeats: number;
  /** Sequences whose brick at least one other model has in the same context; undefined where there is no other model. */
  readonly coveredByOthers: number | undefined;
  /** The same by latency; undefined where some brick of the model has none in the store. */
  readonly timeCoveredByOthers: number | undefined;
  /** Sequences whose brick is measured already. */
  readonly measured: number;
}

/** Sharing among models. */
export interface Sharing {
  readonly models: readonly ModelSharing[];
  /** Different bricks that two models share, over all different bricks of both: row by row in the order of the models. */
  readonly jaccard: readonly (readonly number[])[];
  readonly sequences: number;
  readonly unique: number;
}

interface KeyedModel {
  readonly recipe: ModelRecipe;
  /** For each brick what its measurements are found by: the same brick in another context is another one. */
  readonly keys: readonly string[];
  readonly counts: readonly number[];
  /** For each brick its latency, ms; undefined where it has none. */
  readonly latencies: readonly (number | undefined)[];
}

function keyed(recipe: ModelRecipe, system: System, observations: Observations): KeyedModel {
  const context = contextOf(recipe, system);
  return {
    recipe,
    keys: recipe.bricks.map((brick) => brickKey(brick, context)),
    counts: countsOf(recipe),
    latencies: recipe.bricks.map((brick) => {
      const latency = brickLatency(brick, context, observations);
      return latency.kind === 'known' ? latency.ms : undefined;
    }),
  };
}

function sumOf(values: Iterable<number>): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
}

/** Share of a model's sequences, or of what they weigh, whose brick passes. */
function shareOf(
  { counts }: KeyedModel,
  passes: (brick: number) => boolean,
  weight: (brick: number) => number = () => 1,
): number | undefined {
  const weights = counts.map((count, brick) => count * weight(brick));
  const total = sumOf(weights);
  return total > 0 ? sumOf(weights.filter((_, brick) => passes(brick))) / total : undefined;
}

/** In how many models each brick is. */
function modelsByBrick(models: readonly KeyedModel[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const { keys } of models) for (const key of new Set(keys)) found.set(key, (found.get(key) ?? 0) + 1);
  return found;
}

function sharingOf(model: KeyedModel, others: ReadonlyMap<string, number>, isOnly: boolean): ModelSharing {
  const { recipe, keys, latencies } = model;
  const isShared = (brick: number): boolean => (others.get(keys[brick] ?? '') ?? 0) > 1;
  const isTimed = latencies.every((latency) => latency !== undefined);
  const sequences = recipe.sequences.length;
  return {
    name: recipe.name,
    layers: recipe.layers,
    sequences,
    unique: keys.length,
    ownRepeats: sequences === 0 ? 0 : (sequences - keys.length) / sequences,
    coveredByOthers: isOnly ? undefined : shareOf(model, isShared),
    timeCoveredByOthers: isOnly || !isTimed ? undefined : shareOf(model, isShared, (brick) => latencies[brick] ?? 0),
    measured: shareOf(model, (brick) => latencies[brick] !== undefined) ?? 0,
  };
}

function jaccard(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const shared = [...one].filter((key) => other.has(key)).length;
  const all = one.size + other.size - shared;
  return all === 0 ? 1 : shared / all;
}

/**
 * How much models share, before anything of them is measured; linear in their size but for the matrix.
 *
 * @param observations what the store has of their bricks on this system
 */
export function sharingAmong(recipes: readonly ModelRecipe[], system: System, observations: Observations): Sharing {
  const models = recipes.map((recipe) => keyed(recipe, system, observations));
  const byBrick = modelsByBrick(models);
  const sets = models.map(({ keys }) => new Set(keys));
  return {
    models: models.map((model) => sharingOf(model, byBrick, models.length === 1)),
    jaccard: sets.map((one) => sets.map((other) => jaccard(one, other))),
    sequences: sumOf(recipes.map(({ sequences }) => sequences.length)),
    unique: byBrick.size,
  };
}
