import {
  type BenchmarkAgent,
  countLayers,
  layerGraph,
  type LoadedModel,
  type Model,
  modelOf,
  type Measurement,
  PlatformError,
  type Protocol,
  type RunOptions,
  type System,
  unknownValues,
  weightlessBenchmark,
} from '../../src/plugin-api.js';
import { compose, type Estimate } from './compose.js';
import { type EvaluationContext, measureAll } from './measure.js';
import { keepPlatformDocuments } from './platform-documents.js';
import { type Observations, spreadBetweenOccasions } from './occasions.js';
import {
  knownResults,
  planRepetitions,
  planTasks,
  type PreparedModel,
  repetitionOf,
  type Results,
  type Task,
} from './plan.js';
import { type ModelRecipe, signaturesOf } from './recipe.js';
import { limitOf, type LimitedBy, type Precision, tasksOfNextOccasion } from './refine.js';
import type { Spread } from './statistics.js';
import { type EmptyCall, weightBytesOf } from './in-context.js';
import { decomposeKernels, decomposeModel, uniqueBricks } from './unique-bricks.js';

/** What to estimate, and how. */
export interface EvaluationRequest {
  readonly models: readonly LoadedModel[];
  readonly cut: Cut;
  /** Longest brick, in layers or kernels. */
  readonly granularity: number;
  readonly runOptions: RunOptions;
  readonly protocol: Protocol;
  /** Measure each whole model as well, right before its bricks and once more at the end. */
  readonly measureEndToEnd: boolean;
  /** How well bricks in context have to be measured. */
  readonly precision: Precision;
}

/** Whole-model latency as measured; undefined where an interruption came first. */
export interface EndToEnd {
  /** The whole model's. */
  readonly signature: string;
  readonly first: Measurement | undefined;
  /** The same once more, after everything else. */
  readonly repeat: Measurement | undefined;
}

/** One model's estimate, and what it is held against. */
export interface ModelResult {
  readonly estimate: Estimate;
  /** undefined where whole models were not asked for. */
  readonly endToEnd: EndToEnd | undefined;
  /** Why its bricks were measured no further; undefined where nobody decided that now, or nothing is known. */
  readonly limitedBy?: LimitedBy | undefined;
  /** Kernels of the runtime's optimized graph; undefined at the layer cut. */
  readonly kernels?: number | undefined;
}

export interface EvaluationResult {
  readonly system: System;
  readonly models: readonly ModelResult[];
  /** Measurements, failed ones too, of the bricks that the estimates are made of. */
  readonly bricks: readonly Measurement[];
  /** How far occasions of measuring one brick are apart; undefined where none was measured twice. */
  readonly spread: Spread | undefined;
  /** Sequences and different bricks of all models together. */
  readonly sequences: number;
  readonly uniqueBricks: number;
  /** How many measurements were taken now; the others were in the store. */
  readonly measured: number;
  /** Stopped before everything that was planned was measured. */
  readonly interrupted: boolean;
}

/** How many inputs and outputs a model has. */
export function endsOf({ graph }: Model): EmptyCall {
  return { inputs: graph.inputs.length, outputs: graph.outputs.length };
}

/** Where a model's graph is taken apart. */
export type Cut = 'layer' | 'kernel';

/** How models are taken apart. */
export type CutSettings = Pick<EvaluationRequest, 'cut' | 'granularity' | 'runOptions'>;

/**
 * A model as bricks. The layer cut asks the agent's runtime for the types that the file doesn't state, the kernel cut
 * for the graph as it would be executed.
 */
export async function prepareModel(
  { name, model }: LoadedModel,
  { cut, granularity, runOptions }: CutSettings,
  agent: BenchmarkAgent,
  signal: AbortSignal,
): Promise<PreparedModel> {
  const whole = weightlessBenchmark(model);
  if (cut === 'layer') {
    const inferred = unknownValues(model).length === 0 ? undefined : await agent.inferTypes(whole, signal);
    return { ...decomposeModel(name, layerGraph(model, inferred), granularity), whole };
  }
  const { cacheBytes } = await agent.system(runOptions);
  const { benchmark, values } = await agent.optimize(whole, runOptions, signal);
  const graph = layerGraph(modelOf(benchmark, `${model.source}, optimized`), values);
  const surroundings = { modelWeightBytes: weightBytesOf(benchmark.inputs), cacheBytes };
  const context = { layers: countLayers(model), ends: endsOf(model), surroundings };
  return { ...decomposeKernels(name, graph, granularity, context), whole };
}

/**
 * The main job: takes models apart, measures each unique brick that the store does not know yet, and composes the
 * models' latencies. One measurement at a time; each is in the store before the next one starts, so that an interrupted
 * evaluation continues where it stopped.
 *
 * @throws PlatformError where a model cannot be used, or the agent or the store fails; a benchmark that fails is a
 *   result, not an error
 */
export async function evaluate(request: EvaluationRequest, context: EvaluationContext): Promise<EvaluationResult> {
  const { agent, store, onEvent } = context;
  const { protocol, runOptions, measureEndToEnd } = request;

  const models: PreparedModel[] = [];
  for (const [done, model] of request.models.entries()) {
    onEvent({ kind: 'preparing', model: model.name, done, total: request.models.length });
    models.push(await prepareOrRefuse(model, request, context));
  }

  const system = await agent.system(runOptions);
  const first = planTasks(models, protocol, measureEndToEnd);
  const again = measureEndToEnd ? planRepetitions(models, protocol) : [];
  const results = await knownResults([...first, ...again], system, store);
  const isMissing = (task: Task): boolean => results.get(task) === undefined;
  const toMeasure = first.filter(isMissing);
  const toRepeat = again.filter(isMissing);
  const bricks = uniqueBricks(models);
  onEvent({
    kind: 'planned',
    layers: models.reduce((sum, { recipe }) => sum + recipe.layers, 0),
    unique: bricks.length,
    known: first.length + again.length - toMeasure.length - toRepeat.length,
    toMeasure: toMeasure.length + toRepeat.length,
  });

  const total = toMeasure.length + toRepeat.length;
  let measured = await measureAll(toMeasure, results, runOptions, context, { before: 0, total });
  if (request.cut === 'kernel') measured += await repeatBricks(models, results, system, request, context);
  measured += await measureAll(toRepeat, results, runOptions, context, { before: toMeasure.length, total });
  if (measureEndToEnd) await keepPlatformDocuments(request.models, models, results, protocol, store);

  const interrupted = context.signal.aborted || [...first, ...again].some(isMissing);
  const observations = results.observations();
  const spread = spreadBetweenOccasions(
    models.map(({ recipe }) => recipe),
    observations,
  );
  return {
    system,
    models: models.map(({ recipe, refusal, whole: { signature } }) => {
      const estimate = withRefusal(compose(recipe, observations, spread), refusal, signature);
      const whole = { benchmark: { signature }, protocol };
      return {
        estimate,
        endToEnd: measureEndToEnd
          ? {
              signature,
              first: results.get(whole),
              repeat: results.get({ ...whole, protocol: repetitionOf(protocol) }),
            }
          : undefined,
        limitedBy: interrupted ? undefined : limitOf(estimate, request.precision),
        kernels: request.cut === 'kernel' ? kernelsOf(recipe) : undefined,
      };
    }),
    bricks: measurementsOf(models, observations),
    spread,
    sequences: models.reduce((sum, { recipe }) => sum + recipe.sequences.length, 0),
    uniqueBricks: bricks.length,
    measured,
    interrupted,
  };
}

/**
 * Measures bricks on further occasions, as far as the models' intervals need it. @returns how many measurements were taken
 */
async function repeatBricks(
  models: readonly PreparedModel[],
  results: Results,
  system: System,
  { protocol, runOptions, precision }: EvaluationRequest,
  context: EvaluationContext,
): Promise<number> {
  let measured = 0;
  let tasks: readonly Task[];
  do {
    tasks = tasksOfNextOccasion(models, results.observations(), protocol, precision);
    results.add(await knownResults(tasks, system, context.store));
    const toMeasure = tasks.filter((task) => results.get(task) === undefined);
    if (toMeasure.length > 0 && !context.signal.aborted)
      context.onEvent({ kind: 'repeating', bricks: toMeasure.length });
    measured += await measureAll(toMeasure, results, runOptions, context);
    // Ends: no brick has more than a few occasions, and one that was not measured after all is not asked for for ever.
  } while (tasks.length > 0 && tasks.every((task) => results.get(task) !== undefined));
  return measured;
}

/** A model that the runtime refuses has no bricks, and does not keep the others from theirs. */
async function prepareOrRefuse(
  loaded: LoadedModel,
  settings: CutSettings,
  { agent, signal, onEvent }: EvaluationContext,
): Promise<PreparedModel> {
  try {
    return await prepareModel(loaded, settings, agent, signal);
  } catch (error) {
    if (!(error instanceof PlatformError) || error.code !== 'unsupported') throw error;
    const { name, model } = loaded;
    onEvent({ kind: 'warning', message: `${name}: ${error.message}` });
    const recipe = { name, layers: countLayers(model), bricks: [], sequences: [], edges: [] };
    return { recipe, bricks: [], whole: weightlessBenchmark(model), refusal: error.message };
  }
}

function withRefusal(estimate: Estimate, refusal: string | undefined, signature: string): Estimate {
  if (refusal === undefined) return estimate;
  return { ...estimate, missing: [{ signature, operators: ['whole graph'], count: 1, reason: refusal }] };
}

/** Everything that was measured for the models' bricks, each occasion once. */
function measurementsOf(models: readonly PreparedModel[], observations: Observations): readonly Measurement[] {
  const signatures = models.flatMap(({ recipe }) => signaturesOf(recipe));
  return [...new Set(signatures)].flatMap((signature) => observations.get(signature) ?? []);
}

/** Kernels that a model's sequences hold together. */
export function kernelsOf({ bricks, sequences }: ModelRecipe): number {
  return sequences.reduce((sum, brick) => sum + (bricks[brick]?.operators.length ?? 0), 0);
}
