import { computeContext } from '../bricks/needs.js';
import { countBricks, type ModelRecipe } from '../bricks/recipe.js';
import { brickKey, brickLatency } from '../estimate/brick-latency.js';
import type { Observations } from '../estimate/observations.js';
import { newAmong } from '../report/savings.js';
import { sumOf, type System } from '../../../src/plugin-api.js';

export interface BricksOfModel {
  readonly recipe: ModelRecipe;
  /** Latency of each brick in order of magnitude, from its shapes alone; ms. */
  readonly roughMs: readonly number[];
}

export interface ModelSharing {
  readonly name: string;
  readonly layers: number;
  readonly sequences: number;
  readonly unique: number;
  /** Bricks that no model before it in the list has. */
  readonly newBricks: number;
  /** Share of the sequences that repeat an earlier one of the same model. */
  readonly ownRepeats: number;
  /** Share of the sequences that at least one other model has in the same context; undefined for a single model. */
  readonly coveredByOthers: number | undefined;
  /** The same share of the model's latency; undefined too where a brick of the model has no latency in the store. */
  readonly timeCoveredByOthers: number | undefined;
  readonly measured: number;
  /** Their share of the model's time in order of magnitude, from the bricks' shapes. */
  readonly timeMeasured: number;
}

export interface Sharing {
  readonly models: readonly ModelSharing[];
  readonly jaccard: readonly (readonly number[])[];
  readonly sequences: number;
  readonly unique: number;
}

interface KeyedModel extends BricksOfModel {
  /** For each brick the key of its measurements. The same brick in another context counts as another brick. */
  readonly keys: readonly string[];
  readonly counts: readonly number[];
  readonly latencies: readonly (number | undefined)[];
}

function keyed(model: BricksOfModel, system: System, observations: Observations): KeyedModel {
  const { recipe } = model;
  const context = computeContext(recipe, system);
  return {
    ...model,
    keys: recipe.bricks.map((brick) => brickKey(brick, context)),
    counts: countBricks(recipe),
    latencies: recipe.bricks.map((brick) => {
      const latency = brickLatency(brick, context, observations);
      return latency.kind === 'known' ? latency.ms : undefined;
    }),
  };
}

/** Share of a model's sequences whose brick passes, weighted by brick; 0 for a model without sequences. */
function computeShare(
  { counts }: KeyedModel,
  passes: (brick: number) => boolean,
  weightOf: (brick: number) => number = () => 1,
): number {
  const weights = counts.map((count, brick) => count * weightOf(brick));
  const total = sumOf(weights);
  return total > 0 ? sumOf(weights.filter((_, brick) => passes(brick))) / total : 0;
}

function modelsByBrick(models: readonly KeyedModel[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const { keys } of models) for (const key of new Set(keys)) found.set(key, (found.get(key) ?? 0) + 1);
  return found;
}

function computeModelSharing(
  model: KeyedModel,
  byBrick: ReadonlyMap<string, number>,
  hasOthers: boolean,
): Omit<ModelSharing, 'newBricks'> {
  const { recipe, keys, latencies, roughMs } = model;
  const isShared = (brick: number): boolean => (byBrick.get(keys[brick] ?? '') ?? 0) > 1;
  const isMeasured = (brick: number): boolean => latencies[brick] !== undefined;
  const isTimed = hasOthers && latencies.every((latency) => latency !== undefined);
  const sequences = recipe.sequences.length;
  return {
    name: recipe.name,
    layers: recipe.layers,
    sequences,
    unique: keys.length,
    ownRepeats: sequences === 0 ? 0 : (sequences - keys.length) / sequences,
    coveredByOthers: hasOthers ? computeShare(model, isShared) : undefined,
    timeCoveredByOthers: isTimed ? computeShare(model, isShared, (brick) => latencies[brick] ?? 0) : undefined,
    measured: computeShare(model, isMeasured),
    // Uses the shapes of all bricks: estimates from shapes and measured latencies do not add up to one total.
    timeMeasured: computeShare(model, isMeasured, (brick) => roughMs[brick] ?? 0),
  };
}

function jaccard(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let shared = 0;
  for (const key of one) if (other.has(key)) shared++;
  const all = one.size + other.size - shared;
  return all === 0 ? 1 : shared / all;
}

/** For each two models, the different bricks that both have over those that at least one has; row by row. */
export function jaccardAmong(bricksOfModels: readonly ReadonlySet<string>[]): readonly (readonly number[])[] {
  return bricksOfModels.map((one) => bricksOfModels.map((other) => jaccard(one, other)));
}

/** Linear in the models' size, except for the matrix. @param observations may be empty */
export function sharingAmong(models: readonly BricksOfModel[], system: System, observations: Observations): Sharing {
  const all = models.map((model) => keyed(model, system, observations));
  const byBrick = modelsByBrick(all);
  const newBricks = newAmong(all.map(({ keys }) => keys));
  return {
    models: all.map((model, index) => {
      return { ...computeModelSharing(model, byBrick, all.length > 1), newBricks: newBricks[index] ?? 0 };
    }),
    jaccard: jaccardAmong(all.map(({ keys }) => new Set(keys))),
    sequences: sumOf(models.map(({ recipe }) => recipe.sequences.length)),
    unique: byBrick.size,
  };
}
