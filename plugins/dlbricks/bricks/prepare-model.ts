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
  symbolicBenchmark,
  weightlessBenchmark,
  withOwnWeights,
} from '../../../src/plugin-api.js';
import type { Cut } from '../cut/cut.js';
import { weightBytesOf } from './copies-in-context.js';
import type { EmptyCall } from './empty-call.js';
import { checkKernels, type KernelCheck } from './own-graph.js';
import { type DecomposedModel, decomposeKernels, decomposeModel, type KernelContext } from './unique-bricks.js';

/** What was chosen for a model's inputs. */
export type ChosenInputs = Pick<LoadedModel, 'assumed' | 'sizes'>;

/** A model, and its bricks. */
export interface PreparedModel extends DecomposedModel {
  /** With the weights of its file where the agent can have them. */
  readonly whole: Benchmark;
  /** The check of the kernels against those of the file itself; undefined at the layer cut, and without the file's weights. */
  readonly kernelCheck?: KernelCheck | undefined;
  readonly inputs?: ChosenInputs | undefined;
  /** Signature of the model's graph without its name: models with the same one differ in their weights at most. */
  readonly graph?: string | undefined;
  /** Why the runtime refuses the graph, which then has no bricks; undefined where it accepts the graph. */
  readonly refusal?: string;
  /**
   * Wall time of the preparation, ms. For a graph from the cache, it includes the time of the original optimization.
   */
  readonly costMs: number;
}

/** Numbers of inputs and outputs of a model. */
export function endsOf({ graph }: Model): EmptyCall {
  return { inputs: graph.inputs.length, outputs: graph.outputs.length };
}

/** How models are cut. */
export interface CutSettings {
  readonly cut: Cut;
  /** Longest brick, in layers or kernels; undefined: one layer, or the agent's default. */
  readonly granularity?: number | undefined;
  /** Whether dimensions that the model's file leaves open are open while the runtime optimizes it; default: they are bound. */
  readonly keepDynamic?: boolean | undefined;
  readonly runOptions: RunOptions;
}

/**
 * Long enough for a repeated block of kernels: the first kernel of a brick is measured wrong where its graph does not
 * write the kernel's input.
 */
const KERNELS_OF_COPIES = 64;

/**
 * Default for the longest brick: one layer or kernel, which models share most; blocks where bricks are measured as
 * copies.
 */
export function granularityOf(
  { cut, granularity }: Pick<CutSettings, 'cut' | 'granularity'>,
  together: boolean,
): number {
  return granularity ?? (cut === 'kernel' && !together ? KERNELS_OF_COPIES : 1);
}

/** How the graph to cut is made. */
export type GraphSettings = Pick<CutSettings, 'cut' | 'keepDynamic' | 'runOptions'>;

/** The whole model with made-up weights. Its dimensions have sizes, or are open as in its file. */
function wholeOf({ model, open }: LoadedModel, { keepDynamic = false }: Pick<CutSettings, 'keepDynamic'>): Benchmark {
  return keepDynamic && open !== undefined ? symbolicBenchmark(model, open) : weightlessBenchmark(model);
}

function graphSignature({ model }: LoadedModel): string {
  return weightlessBenchmark({ ...model, graph: { ...model.graph, name: '' } }).signature;
}

/** The graph of a model that is cut, and the cost of making it. */
export interface GraphToCut {
  readonly graph: LayerGraph;
  /** The model as its runtime executes it; at the layer cut, the model itself. */
  readonly weightBytes: number;
  /**
   * Wall time that the runtime took to optimize the graph, also where the graph comes from the cache; 0 where it was
   * not optimized.
   */
  readonly optimizeMs: number;
  /** What the runtime made of the model; undefined at the layer cut. */
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
  return { graph, weightBytes: weightBytesOf(benchmark.inputs), optimizeMs: costMs, optimized };
}

/** A model as bricks. */
export async function prepareModel(
  loaded: LoadedModel,
  settings: CutSettings,
  agent: BenchmarkAgent,
  signal: AbortSignal,
): Promise<PreparedModel> {
  const { name, model, weights, assumed, sizes } = loaded;
  const [together, { cacheBytes }] = [await agent.measuresTogether(), await agent.system(settings.runOptions)];
  const { graph, weightBytes, optimizeMs, optimized } = await graphToCut(loaded, settings, agent, signal);
  const filled = wholeOf(loaded, settings);
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
  const common = { whole: own ?? filled, graph: graphSignature(loaded), inputs: { assumed, sizes } };
  return { ...decomposed, ...common, kernelCheck: checked?.check, costMs };
}

/** A model that the runtime refuses has no bricks. The other models are not affected. */
export async function prepareOrRefuse(
  loaded: LoadedModel,
  settings: CutSettings,
  agent: BenchmarkAgent,
  signal: AbortSignal,
): Promise<PreparedModel> {
  try {
    return await prepareModel(loaded, settings, agent, signal);
  } catch (error) {
    const { name, model, assumed, sizes } = loaded;
    const { reason: refusal } = unusableModel(name, error);
    const recipe = { name, layers: countLayers(model), bricks: [], sequences: [], edges: [] };
    const inputs = { assumed, sizes };
    return { recipe, bricks: [], roughMs: [], whole: wholeOf(loaded, settings), inputs, refusal, costMs: 0 };
  }
}
