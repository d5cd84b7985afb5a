import { computeContext } from '../bricks/needs.js';
import { countBricks, type ModelRecipe } from '../bricks/recipe.js';
import { brickKey, brickLatency } from '../estimate/brick-latency.js';
import type { Observations } from '../estimate/observations.js';
import { newAmong } from '../report/savings.js';
import { groupedBy, sumOf, type System, z } from '../../../src/plugin-api.js';

export interface BricksOfModel {
  readonly recipe: ModelRecipe;
  /** Latency of each brick in order of magnitude, from its shapes alone; ms. */
  readonly roughMs: readonly number[];
}

const percentage = z.number().min(0);

export const modelSharingSchema = z.strictObject({
  name: z.string(),
  layers: z.int(),
  sequences: z.int(),
  unique_bricks: z.int(),
  new_bricks: z.int().describe('Bricks that no model before it in this list has'),
  own_repeats_percent: percentage.describe('Sequences that repeat an earlier one of the same model'),
  covered_by_others_percent: percentage.nullable().describe('Sequences that another model has as well'),
  covered_by_others_time_percent: percentage.nullable().describe("Their share of the model's latency"),
  measured_percent: percentage.describe('Sequences whose brick is measured'),
  measured_time_percent: percentage.describe("Their share of the model's time, to an order of magnitude"),
});

export const jaccardSchema = z
  .array(z.array(z.number()))
  .describe('Different bricks that two models share over all different bricks of both, in the order of the models');

export type ModelSharing = z.infer<typeof modelSharingSchema>;

export interface Sharing {
  readonly models: readonly ModelSharing[];
  readonly jaccard: z.infer<typeof jaccardSchema>;
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

/** Percentage of a model's sequences whose brick passes, weighted by brick; 0 for a model without sequences. */
function computePercentage(
  { counts }: KeyedModel,
  passes: (brick: number) => boolean,
  weightOf: (brick: number) => number = () => 1,
): number {
  const weights = counts.map((count, brick) => count * weightOf(brick));
  const total = sumOf(weights);
  return total > 0 ? (100 * sumOf(weights.filter((_, brick) => passes(brick)))) / total : 0;
}

function computeModelSharing(
  model: KeyedModel,
  modelsOf: ReadonlyMap<string, readonly unknown[]>,
  hasOthers: boolean,
  newBricks: number,
): ModelSharing {
  const { recipe, keys, latencies, roughMs } = model;
  const isShared = (brick: number): boolean => (modelsOf.get(keys[brick] ?? '')?.length ?? 0) > 1;
  const isMeasured = (brick: number): boolean => latencies[brick] !== undefined;
  const isTimed = hasOthers && latencies.every((latency) => latency !== undefined);
  const sequences = recipe.sequences.length;
  return {
    name: recipe.name,
    layers: recipe.layers,
    sequences,
    unique_bricks: keys.length,
    new_bricks: newBricks,
    own_repeats_percent: sequences === 0 ? 0 : (100 * (sequences - keys.length)) / sequences,
    covered_by_others_percent: hasOthers ? computePercentage(model, isShared) : null,
    covered_by_others_time_percent: isTimed
      ? computePercentage(model, isShared, (brick) => latencies[brick] ?? 0)
      : null,
    measured_percent: computePercentage(model, isMeasured),
    // Uses the shapes of all bricks: estimates from shapes and measured latencies do not add up to one total.
    measured_time_percent: computePercentage(model, isMeasured, (brick) => roughMs[brick] ?? 0),
  };
}

function jaccard(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let shared = 0;
  for (const key of one) if (other.has(key)) shared++;
  const all = one.size + other.size - shared;
  return all === 0 ? 1 : shared / all;
}

/** For each two models, the different bricks that both have over those that at least one has; row by row. */
export function jaccardAmong(bricksOfModels: readonly ReadonlySet<string>[]): z.infer<typeof jaccardSchema> {
  return bricksOfModels.map((one) => bricksOfModels.map((other) => jaccard(one, other)));
}

/** Linear in the models' size, except for the matrix. @param observations may be empty */
export function sharingAmong(models: readonly BricksOfModel[], system: System, observations: Observations): Sharing {
  const all = models.map((model) => keyed(model, system, observations));
  const inModels = all.flatMap(({ keys }) => [...new Set(keys)]);
  const modelsOf = groupedBy(inModels, (key) => key);
  const newBricks = newAmong(all.map(({ keys }) => keys));
  return {
    models: all.map((model, index) => computeModelSharing(model, modelsOf, all.length > 1, newBricks[index] ?? 0)),
    jaccard: jaccardAmong(all.map(({ keys }) => new Set(keys))),
    sequences: sumOf(models.map(({ recipe }) => recipe.sequences.length)),
    unique: modelsOf.size,
  };
}
