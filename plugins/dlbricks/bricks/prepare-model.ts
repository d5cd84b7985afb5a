import {
  type Benchmark,
  type BenchmarkAgent,
  countLayers,
  isCompletelyTyped,
  type LayerGraph,
  layerGraph,
  type LoadedModel,
  type Model,
  modelOf,
  type OptimizedGraph,
  type RunOptions,
  unusableModel,
  weightlessBenchmark,
} from '../../../src/plugin-api.js';
import type { Cut } from '../cut/cut.js';
import { weightBytesOf } from './copies-in-context.js';
import type { EmptyCall } from './empty-call.js';
import { checkKernels, type KernelCheck, withOwnWeights } from './own-graph.js';
import { type DecomposedModel, decomposeKernels, decomposeModel, type KernelContext } from './unique-bricks.js';

/** A model taken apart, and whole. */
export interface PreparedModel extends DecomposedModel {
  /** With the weights of its file where the agent can have them. */
  readonly whole: Benchmark;
  /** Whether the kernels are those of the file itself; undefined at the layer cut, and where nobody has its weights here. */
  readonly kernelCheck?: KernelCheck | undefined;
  /** Why the runtime does not take the graph, so that there is nothing to take apart; undefined where it takes it. */
  readonly refusal?: string;
  /** Wall time of all that, ms; as it was when the runtime optimized the graph, where that was kept. */
  readonly costMs: number;
}

/** How many inputs and outputs a model has. */
export function endsOf({ graph }: Model): EmptyCall {
  return { inputs: graph.inputs.length, outputs: graph.outputs.length };
}

/** How models are cut. */
export interface CutSettings {
  readonly cut: Cut;
  /** Longest brick, in layers or kernels; undefined: one layer, or what suits the agent. */
  readonly granularity?: number | undefined;
  readonly runOptions: RunOptions;
}

/** Room for a repeated block of kernels: a brick's first kernel is measured wrong where nothing in its graph writes its input. */
const KERNELS_OF_COPIES = 64;

/** Default for the longest brick: one layer or kernel, which is shared most; blocks where bricks are measured as copies. */
export function granularityOf(
  { cut, granularity }: Pick<CutSettings, 'cut' | 'granularity'>,
  together: boolean,
): number {
  return granularity ?? (cut === 'kernel' && !together ? KERNELS_OF_COPIES : 1);
}

/** A model's graph as it is to be cut, and what finding it out cost. */
export interface GraphToCut {
  readonly graph: LayerGraph;
  /** Of the model as its runtime executes it, or of itself at the layer cut. */
  readonly weightBytes: number;
  /** Wall time that the runtime took to optimize it, when it did; 0 where it did not. */
  readonly optimizeMs: number;
  /** What the runtime made of the model; undefined at the layer cut. */
  readonly optimized?: OptimizedGraph | undefined;
}

/**
 * The graph that a cut takes apart: at the layer cut the model's own, with what its file does not say of types as the agent's
 * runtime knows it; at the kernel cut the one that the runtime executes.
 */
export async function graphToCut(
  { model }: LoadedModel,
  { cut, runOptions }: Pick<CutSettings, 'cut' | 'runOptions'>,
  agent: BenchmarkAgent,
  signal: AbortSignal,
): Promise<GraphToCut> {
  if (cut === 'layer') {
    const inferred = isCompletelyTyped(model) ? undefined : await agent.inferTypes(weightlessBenchmark(model), signal);
    return { graph: layerGraph(model, inferred), weightBytes: 0, optimizeMs: 0 };
  }
  const optimized = await agent.optimize(weightlessBenchmark(model), runOptions, signal);
  const { benchmark, values, costMs } = optimized;
  const graph = layerGraph(modelOf(benchmark, `${model.source}, optimized`), values);
  return { graph, weightBytes: weightBytesOf(benchmark.inputs), optimizeMs: costMs, optimized };
}

/** A model as bricks. */
export async function prepareModel(
  loaded: LoadedModel,
  settings: CutSettings,
  agent: BenchmarkAgent,
  signal: AbortSignal,
): Promise<PreparedModel> {
  const { name, model, weights } = loaded;
  const [together, { cacheBytes }] = [await agent.measuresTogether(), await agent.system(settings.runOptions)];
  const { graph, weightBytes, optimizeMs, optimized } = await graphToCut(loaded, settings, agent, signal);
  const filled = weightlessBenchmark(model);
  const own = await withOwnWeights(filled, weights, agent);
  const checked =
    own === undefined || optimized === undefined
      ? undefined
      : await checkKernels(own, optimized, settings.runOptions, agent, signal);
  const startMs = performance.now();
  const granularity = granularityOf(settings, together);
  const measured: KernelContext['measured'] = together
    ? { way: 'together' }
    : { way: 'copies', surroundings: { modelWeightBytes: weightBytes, cacheBytes } };
  const context = { layers: countLayers(model), ends: endsOf(model), measured };
  const decomposed =
    settings.cut === 'layer'
      ? decomposeModel(name, graph, granularity)
      : decomposeKernels(name, graph, granularity, context);
  const costMs = optimizeMs + (checked?.costMs ?? 0) + performance.now() - startMs;
  return { ...decomposed, whole: own ?? filled, kernelCheck: checked?.check, costMs };
}

/** A model that the runtime refuses, or cannot run, has no bricks, and does not keep the others from theirs. */
export async function prepareOrRefuse(
  loaded: LoadedModel,
  settings: CutSettings,
  agent: BenchmarkAgent,
  signal: AbortSignal,
): Promise<PreparedModel> {
  try {
    return await prepareModel(loaded, settings, agent, signal);
  } catch (error) {
    const { name, model } = loaded;
    const { reason: refusal } = unusableModel(name, error);
    const recipe = { name, layers: countLayers(model), bricks: [], sequences: [], edges: [] };
    return { recipe, bricks: [], roughMs: [], whole: weightlessBenchmark(model), refusal, costMs: 0 };
  }
}
