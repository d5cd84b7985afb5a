import {
  type AgentDescription,
  type Benchmark,
  type BenchmarkAgent,
  countLayers,
  isAbleTo,
  isCompletelyTyped,
  type LayerGraph,
  layerGraph,
  type LoadedModel,
  type Model,
  modelOf,
  type OptimizedGraph,
  type RunOptions,
  symbolicBenchmark,
  weightlessBenchmark,
  inputBytes,
} from '../../../src/plugin-api.js';
import type { Cut } from '../cut/cut.js';
import type { EmptyCall } from './empty-call.js';
import { type DecomposedModel, decomposeKernels, decomposeModel, type KernelContext } from './unique-bricks.js';

/** Options for the models that are optimized with fewer of their repeated blocks. */
export const SHORTEN = ['large', 'always', 'never'] as const;

export type Shorten = (typeof SHORTEN)[number];

/** How models are cut. */
export interface CutSettings {
  readonly cut: Cut;
  /** Longest brick, in layers or kernels; undefined: one layer, or the agent's default. */
  readonly granularity?: number | undefined;
  /**
   * Whether dimensions that the model's file leaves open are open while the runtime optimizes it; default: they are
   * bound.
   */
  readonly keepDynamic?: boolean | undefined;
  /** The models that are optimized with fewer of their repeated blocks, at the kernel cut; default: large ones. */
  readonly shorten?: Shorten | undefined;
  readonly runOptions: RunOptions;
}

/**
 * Longest brick that is measured as copies, in kernels: long enough for a repeated block. The first kernel of a brick
 * is measured wrongly, because the brick's graph does not write the kernel's input.
 */
const KERNELS_OF_COPIES = 64;

/**
 * Default for the longest brick: one layer or kernel, which models share most; blocks where bricks are measured as
 * copies.
 */
export function granularityOf(
  { cut, granularity }: Pick<CutSettings, 'cut' | 'granularity'>,
  agent: Pick<AgentDescription, 'abilities'>,
): number {
  return granularity ?? (cut === 'kernel' && !isAbleTo(agent, 'measure_bricks') ? KERNELS_OF_COPIES : 1);
}

/** Settings for making the graph to cut. */
export type GraphSettings = Pick<CutSettings, 'cut' | 'keepDynamic' | 'runOptions'>;

/** Numbers of inputs and outputs of a model. */
export function endsOf({ graph }: Model): EmptyCall {
  return { inputs: graph.inputs.length, outputs: graph.outputs.length };
}

/** The whole model with made-up weights. Its dimensions have sizes, or are open as in its file. */
export function wholeOf(
  { model, open }: LoadedModel,
  { keepDynamic = false }: Pick<CutSettings, 'keepDynamic'>,
): Benchmark {
  return keepDynamic && open !== undefined ? symbolicBenchmark(model, open) : weightlessBenchmark(model);
}

/** The graph of a model that is cut, and the cost of making it. */
export interface GraphToCut {
  /** The graph that the runtime executes; at the layer cut, the graph of the model itself. */
  readonly graph: LayerGraph;
  /** Bytes of the graph's weights; 0 at the layer cut. */
  readonly weightBytes: number;
  /**
   * Wall time that the runtime took to optimize the graph, also where the graph comes from the cache; 0 where it was
   * not optimized.
   */
  readonly optimizeMs: number;
  /** The model as the runtime optimized it; undefined at the layer cut. */
  readonly optimized?: OptimizedGraph | undefined;
}

/**
 * The graph that a cut takes apart. At the layer cut it is the model's own graph; the agent's runtime adds the types
 * that the file does not state. At the kernel cut it is the graph that the runtime executes.
 */
export async function graphToCut(
  loaded: LoadedModel,
  { cut, keepDynamic, runOptions }: GraphSettings,
  agent: BenchmarkAgent,
  signal: AbortSignal,
): Promise<GraphToCut> {
  const { model } = loaded;
  if (cut === 'layer') {
    const inferred = isCompletelyTyped(model) ? undefined : await agent.inferTypes(weightlessBenchmark(model), signal);
    return { graph: layerGraph(model, inferred), weightBytes: 0, optimizeMs: 0 };
  }
  const optimized = await agent.optimize(wholeOf(loaded, { keepDynamic }), runOptions, signal);
  const { benchmark, values, costMs } = optimized;
  const graph = layerGraph(modelOf(benchmark, `${model.source}, optimized`), values);
  return { graph, weightBytes: inputBytes(benchmark.inputs, 'weight'), optimizeMs: costMs, optimized };
}

/** The bricks of a model, or of a shortened one. */
export interface Decomposed extends GraphToCut {
  readonly decomposed: DecomposedModel;
  /** Wall time of optimizing and cutting, ms. */
  readonly costMs: number;
}

/**
 * Takes a model apart.
 *
 * @param surroundingBytes bytes of the weights that surround a brick in its model; by default those of the graph
 */
export async function decompose(
  loaded: LoadedModel,
  settings: CutSettings,
  agent: BenchmarkAgent,
  signal: AbortSignal,
  surroundingBytes?: number,
): Promise<Decomposed> {
  const { name, model } = loaded;
  const toCut = await graphToCut(loaded, settings, agent, signal);
  const startMs = performance.now();
  const { description } = agent;
  const granularity = granularityOf(settings, description);
  const modelWeightBytes = surroundingBytes ?? toCut.weightBytes;
  const measured: KernelContext['measured'] = isAbleTo(description, 'measure_bricks')
    ? { way: 'together' }
    : { way: 'copies', surroundings: { modelWeightBytes, cacheBytes: description.cacheBytes } };
  const context = { layers: countLayers(model), ends: endsOf(model), measured };
  const decomposed =
    settings.cut === 'layer'
      ? decomposeModel(name, toCut.graph, granularity)
      : decomposeKernels(name, toCut.graph, granularity, context);
  return { ...toCut, decomposed, costMs: toCut.optimizeMs + performance.now() - startMs };
}
