import {
  type Benchmark,
  type BenchmarkAgent,
  countLayers,
  layerGraph,
  type LoadedModel,
  type Model,
  modelOf,
  PlatformError,
  type RunOptions,
  unknownValues,
  weightlessBenchmark,
} from '../../../src/plugin-api.js';
import { type EmptyCall, weightBytesOf } from './in-context.js';
import { type DecomposedModel, decomposeKernels, decomposeModel } from './unique-bricks.js';

/** A model taken apart, and whole. */
export interface PreparedModel extends DecomposedModel {
  readonly whole: Benchmark;
  /** Why the runtime refuses the graph, so that there is nothing to take apart; undefined where it takes it. */
  readonly refusal?: string;
}

/** How many inputs and outputs a model has. */
export function endsOf({ graph }: Model): EmptyCall {
  return { inputs: graph.inputs.length, outputs: graph.outputs.length };
}

/** Where a model's graph is taken apart. */
export type Cut = 'layer' | 'kernel';

/** How models are taken apart. */
export interface CutSettings {
  readonly cut: Cut;
  /** Longest brick, in layers or kernels. */
  readonly granularity: number;
  readonly runOptions: RunOptions;
}

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

/** A model that the runtime refuses has no bricks, and does not keep the others from theirs. */
export async function prepareOrRefuse(
  loaded: LoadedModel,
  settings: CutSettings,
  agent: BenchmarkAgent,
  signal: AbortSignal,
): Promise<PreparedModel> {
  try {
    return await prepareModel(loaded, settings, agent, signal);
  } catch (error) {
    if (!(error instanceof PlatformError) || error.code !== 'unsupported') throw error;
    const { name, model } = loaded;
    const recipe = { name, layers: countLayers(model), bricks: [], sequences: [], edges: [] };
    return { recipe, bricks: [], whole: weightlessBenchmark(model), refusal: error.message };
  }
}
