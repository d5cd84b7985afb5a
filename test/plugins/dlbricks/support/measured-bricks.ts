import type { PreparedModel } from '../../../../plugins/dlbricks/bricks/prepare-model.js';
import type { ModelRecipe } from '../../../../plugins/dlbricks/bricks/recipe.js';
import type { Benchmark } from '../../../../src/measurement/benchmark.js';
import type { Measurement, Outcome } from '../../../../src/measurement/measurement.js';
import { PROTOCOL, sampleMeasurement, signatureOf } from '../../../store/sample-measurement.js';

export const COPIES = 4;

/** Of the empty call that is subtracted, and that a model pays for. */
export const CALL_MS = 1;

const CALL = signatureOf(9999);

/** What is measured for brick number `brick`: its copies in one graph. */
export function copiesSignature(brick: number, copies = COPIES): string {
  return signatureOf(1000 * copies + brick);
}

/** A model that has brick number i `counts[i]` times, each measured in context; its sequences read nothing of each other. */
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

function benchmarkOf(signature: string): Benchmark {
  return { signature, model: new Uint8Array(), inputs: [] };
}

/** The same as it is when a plan is made. */
export function preparedOf(recipe: ModelRecipe): PreparedModel {
  const bricks = recipe.bricks.map(({ signature, operators, context }) => {
    const { copies = 1, benchmark = signature, baseline = CALL } = context ?? {};
    const inContext = { copies, benchmark: benchmarkOf(benchmark), baseline: benchmarkOf(baseline) };
    return { ...benchmarkOf(signature), operators, context: inContext };
  });
  return { recipe, bricks, whole: benchmarkOf(signatureOf(8888)), call: benchmarkOf(CALL) };
}

export type Failure = Extract<Outcome, { kind: 'failure' }>;

export const crashed: Failure = { kind: 'failure', reason: 'crashed', message: 'signal 11' };

/** A brick's latency in ms in each run of one occasion, or in all of them, or how measuring it failed. */
export type OnOccasion = number | readonly number[] | Failure;

function outcomeOf(result: OnOccasion, copies: number): Outcome {
  if (typeof result === 'object' && 'kind' in result) return result;
  const latencies = typeof result === 'number' ? Array.from({ length: 5 }, () => result) : result;
  return { kind: 'samples', runMs: latencies.map((ms) => CALL_MS + copies * ms), warmupMs: [] };
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
    protocol: { ...PROTOCOL, occasion },
    outcome: outcomeOf(result, copies),
    costMs,
  });
}

/** A brick on occasions 1, 2, and so on. */
export function measuredBrick(brick: number, ...occasions: readonly OnOccasion[]): readonly Measurement[] {
  return occasions.map((result, index) => measuredOn(index + 1, brick, result));
}

/** The empty call, which always takes the same. */
export const measuredCall: Measurement = sampleMeasurement(0, {
  signature: CALL,
  outcome: { kind: 'samples', runMs: Array.from({ length: 5 }, () => CALL_MS), warmupMs: [] },
});
