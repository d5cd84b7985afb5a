import {
  type Context,
  hypotOf,
  mean,
  type Measurement,
  sharedShareOf,
  subjectKey,
  sumOf,
  groupedBy,
} from '../../../src/plugin-api.js';
import type { BrickRecipe, ModelRecipe } from '../bricks/recipe.js';
import type { Unknown } from '../predict/kernel-predictor.js';
import type { LayerFacts } from '../work/layer-facts.js';
import { perCopy, type Summary, summarize } from './statistics.js';
import type { Occurrence } from './variance-components.js';

/** Measurements by {@link subjectKey}, one per occasion, all of one machine. */
export type Observations = ReadonlyMap<string, readonly Measurement[]>;

export function groupObservations(measurements: Iterable<Measurement>): Observations {
  const inOrder = [...measurements].sort((a, b) => a.occasion - b.occasion);
  return groupedBy(inOrder, ({ signature, context }) => subjectKey(signature, context));
}

export interface BrickLatency {
  readonly kind: 'known';
  readonly ms: number;
  readonly occasionsMs: readonly number[];
  readonly processes: readonly string[];
  /** When each occasion ended; milliseconds since 1970. */
  readonly endsMs: readonly number[];
  /** Its uncertainty by the spread of runs within processes. */
  readonly within: Summary;
  /** Share of its runs during which another machine shared a core, mean over the occasions; 0 to 1. */
  readonly sharedShare: number;
  /** What the profile added to its time, and was subtracted, mean over the occasions; ms. */
  readonly profileMs?: number | undefined;
  readonly runs: number;
  readonly costMs: number;
}

export interface CallLatency {
  readonly kind: 'known';
  readonly within: Summary;
}

/**
 * Bricks of one composite have its conditions, and no two composites take the same time to the nanosecond. Where they
 * are not known, all bricks of an occasion count as one process: then intervals are wider.
 */
export function identifyProcess({ context, occasion, conditions }: Measurement): string {
  if (context === undefined || conditions === undefined) return `${occasion}`;
  return `${occasion} among ${context.footprintBytes} bytes in ${conditions.wallMs} ms`;
}

type Samples = Extract<Measurement['outcome'], { readonly kind: 'samples' }>;

/** Without the overhead of the profile, whose error is assumed to be much smaller than the latency's. */
export function occasionSummary({ runMs, overheadMs = 0 }: Samples): Summary {
  const summary = summarize(runMs);
  return { ...summary, ms: Math.max(0, summary.ms - overheadMs) };
}

type SampledMeasurement = Measurement & { readonly outcome: Samples };

function isTaken(measurement: Measurement): measurement is SampledMeasurement {
  return measurement.outcome.kind === 'samples';
}

function whyNone(measurements: readonly Measurement[]): Unknown {
  const outcome = measurements[0]?.outcome;
  const reason = outcome?.kind === 'failure' ? failureText(outcome) : 'not measured on this system';
  return { kind: 'unknown', reason };
}

function meanSummary(summaries: readonly Summary[]): Summary {
  const errors = summaries.flatMap(({ standardErrorMs }) => standardErrorMs ?? []);
  const isKnown = errors.length === summaries.length;
  return {
    ms: mean(summaries.map(({ ms }) => ms)),
    standardErrorMs: isKnown ? hypotOf(errors) / errors.length : undefined,
    degreesOfFreedom: sumOf(summaries.map(({ degreesOfFreedom }) => degreesOfFreedom)),
  };
}

export function callLatency(signature: string, observations: Observations): CallLatency | Unknown {
  const measurements = observations.get(signature) ?? [];
  const taken = measurements.filter(isTaken);
  if (taken.length === 0) return whyNone(measurements);
  return { kind: 'known', within: meanSummary(taken.map(({ outcome }) => occasionSummary(outcome))) };
}

/** The cost of handing over a model's outputs: the call with them less the call without. */
export function outputCopyLatency(
  { leaving, staying }: NonNullable<ModelRecipe['handing_over']>,
  observations: Observations,
): CallLatency | Unknown {
  const handed = callLatency(leaving, observations);
  const kept = callLatency(staying, observations);
  if (handed.kind === 'unknown') return handed;
  if (kept.kind === 'unknown') return kept;
  return { kind: 'known', within: perCopy(handed.within, kept.within, 1) };
}

/** Key of a brick's measurements, or of the measurements of its copies where those are measured instead. */
export function brickKey({ signature, context: copies }: BrickRecipe, context: Context | undefined): string {
  return copies === undefined ? subjectKey(signature, context) : subjectKey(copies.benchmark, undefined);
}

/** Largest standard error of an occasion's latency, relative to it, that its runs leave if nothing disturbed them. */
const STEADY = 0.1;

interface Occasion {
  readonly measurement: SampledMeasurement;
  readonly summary: Summary;
}

/** Occasions whose runs differ widely count only where a brick has no others. */
function steadyAmong(occasions: readonly Occasion[]): readonly Occasion[] {
  const steady = occasions.filter(({ summary: { ms, standardErrorMs = 0 } }) => standardErrorMs <= STEADY * ms);
  return steady.length > 0 ? steady : occasions;
}

/** Failed occasions count only where all failed. @param context of its model, see contextOf */
export function brickLatency(
  brick: BrickRecipe,
  context: Context | undefined,
  observations: Observations,
): BrickLatency | Unknown {
  const measurements = observations.get(brickKey(brick, context)) ?? [];
  const sampled = measurements.filter(isTaken);
  if (sampled.length === 0) return whyNone(measurements);
  const occasions = steadyAmong(
    sampled.map((measurement) => ({ measurement, summary: occasionSummary(measurement.outcome) })),
  );
  const taken = occasions.map(({ measurement }) => measurement);
  let summaries = occasions.map(({ summary }) => summary);
  if (brick.context !== undefined) {
    const { baseline, copies } = brick.context;
    const call = callLatency(baseline, observations);
    if (call.kind === 'unknown') return call;
    summaries = summaries.map((together) => perCopy(together, call.within, copies));
  }
  const within = meanSummary(summaries);
  return {
    kind: 'known',
    ms: within.ms,
    occasionsMs: summaries.map(({ ms }) => ms),
    processes: taken.map(identifyProcess),
    endsMs: taken.map(({ measuredAt }) => Date.parse(measuredAt)),
    within,
    sharedShare: mean(taken.map(sharedShareOf)),
    profileMs: mean(taken.map(({ outcome }) => outcome.overheadMs ?? 0)),
    runs: sumOf(taken.map(({ outcome }) => outcome.runMs.length)),
    costMs: sumOf(sampled.map(({ costMs }) => costMs)),
  };
}

export interface RecipeInContext {
  readonly recipe: ModelRecipe;
  readonly context: Context | undefined;
  readonly facts?: readonly (readonly LayerFacts[])[] | undefined;
  readonly names?: readonly (readonly string[])[] | undefined;
}

/** Each brick of some models in each process that measured it, once for each context. */
export function findOccurrences(
  recipes: readonly RecipeInContext[],
  observations: Observations,
): readonly Occurrence[] {
  const found = new Map<string, readonly Occurrence[]>();
  for (const { recipe, context } of recipes) {
    for (const one of recipe.bricks) {
      const brick = brickKey(one, context);
      const latency = found.has(brick) ? undefined : brickLatency(one, context, observations);
      if (latency?.kind !== 'known') continue;
      const occasions = latency.occasionsMs.map((ms, index) => ({
        brick,
        process: latency.processes[index] ?? '',
        ms,
      }));
      found.set(brick, occasions);
    }
  }
  return [...found.values()].flat();
}

type Failure = Extract<Measurement['outcome'], { readonly kind: 'failure' }>;

const REMEDIES: Readonly<Record<Failure['reason'], string>> = {
  unsupported: 'try the other --cut, or a larger --granularity, which keeps more of the graph together',
  out_of_memory:
    'use smaller dimensions, a machine with more memory, or a higher protocol.memory_limit_gib in a manifest',
  timeout: 'use smaller dimensions, or a higher protocol.time_limit_ms in a manifest',
  crashed: 'measure it again with --remeasure failed; if it ends so again, try the other --cut',
  run_failed: 'give the inputs of the model valid values with --input NAME=VALUE, or try the other --cut',
};

export function failureText({ reason, message }: Failure): string {
  return `${reason}: ${message.replace(/[.\s]+$/, '')}; ${REMEDIES[reason]}`;
}
