import type { MeasurableBrick } from '../../../../plugins/dlbricks/bricks/brick-copies.js';
import { computeContext } from '../../../../plugins/dlbricks/bricks/needs.js';
import type { PreparedModel } from '../../../../plugins/dlbricks/bricks/prepare-model.js';
import type { ModelRecipe } from '../../../../plugins/dlbricks/bricks/recipe.js';
import type { RecipeInContext } from '../../../../plugins/dlbricks/estimate/brick-latency.js';
import type { Benchmark } from '../../../../src/measurement/benchmark.js';
import type { Measurement, Outcome } from '../../../../src/measurement/measurement.js';
import { sampleMeasurement, signatureOf, SYSTEM } from '../../../store/sample-measurement.js';

export const COPIES = 4;

/** Time of the empty call, which is subtracted from measurements and added once for a model. */
export const CALL_MS = 1 / 16;

const CALL = signatureOf(9999);

/** Signature of the benchmark of brick number `brick`: its copies in one graph. */
export function copiesSignature(brick: number, copies = COPIES): string {
  return signatureOf(1000 * copies + brick);
}

/** A model that has brick number i `counts[i]` times, each measured as copies. No sequence reads another. */
export function recipeOf(counts: readonly number[], { copies = COPIES, name = 'model' } = {}): ModelRecipe {
  const sequences = counts.flatMap((count, brick) => Array.from({ length: count }, () => brick));
  return {
    name,
    layers: sequences.length,
    call: CALL,
    bricks: counts.map((_, brick) => ({
      signature: signatureOf(brick),
      operators: [`Op${brick}`],
      context: { copies, benchmark: copiesSignature(brick, copies), baseline: CALL },
    })),
    sequences,
    edges: [],
  };
}

/**
 * Bytes that pass through the caches between two runs of a brick. This is exactly one footprint class on the system used
 * here.
 */
export const FOOTPRINT_BYTES = 2 ** 20;

/** The same model if its bricks are measured together with others. */
export function recipeTogether(
  counts: readonly number[],
  { footprintBytes = FOOTPRINT_BYTES, name = 'model' } = {},
): ModelRecipe {
  const { bricks, ...rest } = recipeOf(counts, { name });
  return { ...rest, footprint_bytes: footprintBytes, bricks: bricks.map(({ context: _, ...brick }) => brick) };
}

/** A recipe with the context of its bricks on the system of all measurements here. */
export function surrounded(recipe: ModelRecipe): RecipeInContext {
  return { recipe, context: computeContext(recipe, SYSTEM) };
}

function benchmarkOf(signature: string): Benchmark {
  return { signature, model: new Uint8Array(), inputs: [] };
}

export function preparedOf(recipe: ModelRecipe, roughMs = recipe.bricks.map(() => 1)): PreparedModel {
  const bricks = recipe.bricks.map(({ signature, operators, context }): MeasurableBrick => {
    const brick = { ...benchmarkOf(signature), operators };
    if (context === undefined) return brick;
    const { copies, benchmark, baseline } = context;
    return { ...brick, copies: { copies, benchmark: benchmarkOf(benchmark), baseline: benchmarkOf(baseline) } };
  });
  return {
    recipe,
    bricks,
    roughMs,
    facts: [],
    largest: { weightBytes: 0, valueBytes: 0 },
    whole: benchmarkOf(signatureOf(8888)),
    call: benchmarkOf(CALL),
    costMs: 0,
  };
}

export type Failure = Extract<Outcome, { kind: 'failure' }>;

export const crashed: Failure = { kind: 'failure', reason: 'crashed', message: 'signal 11' };

/** A brick's latency in ms in each run of one occasion, or in all of them, or how measuring it failed. */
export type OnOccasion = number | readonly number[] | Failure;

function isFailure(result: OnOccasion): result is Failure {
  return typeof result === 'object' && 'kind' in result;
}

function latenciesOf(result: number | readonly number[]): readonly number[] {
  return typeof result === 'number' ? Array.from({ length: 5 }, () => result) : result;
}

function outcomeOf(result: OnOccasion, copies: number): Outcome {
  if (isFailure(result)) return result;
  return { kind: 'samples', runMs: latenciesOf(result).map((ms) => CALL_MS + copies * ms), warmupMs: [] };
}

/** Measurement of a brick's copies on one occasion, 1 being the first. */
export function measuredOn(
  occasion: number,
  brick: number,
  result: OnOccasion,
  { costMs = 100, copies = COPIES } = {},
): Measurement {
  return sampleMeasurement(brick, {
    signature: copiesSignature(brick, copies),
    occasion,
    outcome: outcomeOf(result, copies),
    costMs,
  });
}

/** A brick on occasions 1, 2, and so on. */
export function measuredBrick(brick: number, ...occasions: readonly OnOccasion[]): readonly Measurement[] {
  return occasions.map((result, index) => measuredOn(index + 1, brick, result));
}

/** Cost of the profile for a brick in each run, as large as that of a runtime's; ms. */
export const OVERHEAD_MS = 0.0025;

/** Measurement of a brick together with others on one occasion, 1 being the first. */
export function measuredTogetherOn(
  occasion: number,
  brick: number,
  result: OnOccasion,
  { costMs = 100, footprintBytes = FOOTPRINT_BYTES } = {},
): Measurement {
  const outcome: Outcome = isFailure(result)
    ? result
    : {
        kind: 'samples',
        runMs: latenciesOf(result).map((ms) => ms + OVERHEAD_MS),
        warmupMs: [],
        overheadMs: OVERHEAD_MS,
      };
  return sampleMeasurement(brick, { occasion, context: { footprintBytes }, outcome, costMs });
}

/** The empty call, which always takes the same time. */
export const measuredCall: Measurement = sampleMeasurement(0, {
  signature: CALL,
  outcome: { kind: 'samples', runMs: Array.from({ length: 5 }, () => CALL_MS), warmupMs: [] },
});
