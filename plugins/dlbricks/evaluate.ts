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
import { signaturesOf } from './recipe.js';
import { knownResults, planTasks, type PreparedModel, repetitionOf } from './plan.js';
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
}

export interface EvaluationResult {
  readonly system: System;
  readonly models: readonly ModelResult[];
  /** Measurements, failed ones too, of the bricks that the estimates are made of. */
  readonly bricks: readonly Measurement[];
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
  const tasks = planTasks(models, protocol, measureEndToEnd);
  const results = await knownResults(tasks, system, store);
  const toMeasure = tasks.filter((task) => !results.has(task));
  const bricks = uniqueBricks(models);
  onEvent({
    kind: 'planned',
    layers: models.reduce((sum, { recipe }) => sum + recipe.layers, 0),
    unique: bricks.length,
    known: tasks.length - toMeasure.length,
    toMeasure: toMeasure.length,
  });

  const measured = await measureAll(toMeasure, results, runOptions, context);

  const ofBricks = results.of(protocol);
  const again = results.of(repetitionOf(protocol));
  return {
    system,
    models: models.map(({ recipe, refusal, whole: { signature } }) => ({
      estimate: withRefusal(compose(recipe, ofBricks), refusal, signature),
      endToEnd: measureEndToEnd
        ? { signature, first: ofBricks.get(signature), repeat: again.get(signature) }
        : undefined,
    })),
    bricks: measurementsOf(models, ofBricks),
    sequences: models.reduce((sum, { recipe }) => sum + recipe.sequences.length, 0),
    uniqueBricks: bricks.length,
    measured,
    interrupted: measured < toMeasure.length,
  };
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

/** Everything that was measured for the models' bricks, each once. */
function measurementsOf(
  models: readonly PreparedModel[],
  results: ReadonlyMap<string, Measurement>,
): readonly Measurement[] {
  const signatures = models.flatMap(({ recipe }) => signaturesOf(recipe));
  return [...new Set(signatures)].flatMap((signature) => results.get(signature) ?? []);
}
