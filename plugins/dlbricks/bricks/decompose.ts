import {
  type AgentDescription,
  type Benchmark,
  type BenchmarkAgent,
  countLayers,
  type InferredValue,
  isAbleTo,
  isCompletelyTyped,
  type LayerGraph,
  layerGraph,
  type LoadedModel,
  type Model,
  modelFromBenchmark,
  type OptimizedGraph,
  optimizingRun,
  PlatformError,
  type RunOptions,
  symbolicBenchmark,
  valueClasses,
  weightlessBenchmark,
  inputBytes,
  withClassesOfConstants,
} from '../../../src/plugin-api.js';
import type { Cut } from '../cut/cut.js';
import { type CheckableGraph, checkableGraph } from './checkable-graph.js';
import type { EmptyCall } from './empty-call.js';
import { type Values, type WeightsOfRun, withValuesOfRun } from './values-of-run.js';
import { type DecomposedModel, decomposeKernels, decomposeModel, type KernelContext } from './unique-bricks.js';

/**
 * Options for the models that are optimized with fewer of their repeated blocks. `auto`: large ones, and those where it
 * is faster.
 */
export const SHORTEN = ['auto', 'large', 'always', 'never'] as const;

export type Shorten = (typeof SHORTEN)[number];

export interface CutSettings {
  readonly cut: Cut;
  /** Longest brick, in layers or kernels; undefined: one layer, or the agent's default. */
  readonly granularity?: number | undefined;
  /**
   * Whether dimensions that the model's file leaves open are open while the runtime optimizes it; default: they are
   * bound.
   */
  readonly keepDynamic?: boolean | undefined;
  /** The models that are optimized with fewer of their repeated blocks, at the kernel cut; default: auto. */
  readonly shorten?: Shorten | undefined;
  /** Where the values come from that steer operators; default: they are made up. */
  readonly values?: Values | undefined;
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

export type GraphSettings = Pick<CutSettings, 'cut' | 'keepDynamic' | 'values' | 'runOptions'>;

export function arityOf({ graph }: Model): EmptyCall {
  return { inputs: graph.inputs.length, outputs: graph.outputs.length };
}

/** The whole model with made-up weights. Its dimensions have sizes, or are open as in its file. */
export function wholeOf(
  { model, open }: LoadedModel,
  { keepDynamic = false }: Pick<CutSettings, 'keepDynamic'>,
): Benchmark {
  const classed = withClassesOfConstants(model);
  return keepDynamic && open !== undefined ? symbolicBenchmark(classed, open) : weightlessBenchmark(classed);
}

export interface GraphToCut {
  /** The graph that the runtime executes; at the layer cut, the graph of the model itself. */
  readonly graph: LayerGraph;
  readonly weightBytes: number;
  /**
   * Wall time that the runtime took to optimize the graph, also where the graph comes from the cache; 0 where it was
   * not optimized.
   */
  readonly optimizeMs: number;
  /** The model as the runtime optimized it; undefined at the layer cut. */
  readonly optimized?: OptimizedGraph | undefined;
  readonly toCheck?: (() => CheckableGraph) | undefined;
  /** Weights of the run whose values steer operators; undefined where these values are made up. */
  readonly runWith?: WeightsOfRun | undefined;
}

interface Wholes {
  readonly own?: Benchmark | undefined;
  /** As {@link wholeOf} makes it. */
  readonly filled?: Benchmark | undefined;
}

interface Run {
  readonly weights: WeightsOfRun;
  readonly steeringValues: boolean;
}

/** The graph that a cut takes apart, by one run of the model where the types of its values need one. */
async function graphByRun(
  loaded: LoadedModel,
  { cut, keepDynamic, runOptions }: GraphSettings,
  agent: BenchmarkAgent,
  signal: AbortSignal,
  { own, filled }: Wholes,
  { weights, steeringValues }: Run,
): Promise<GraphToCut> {
  const { model } = loaded;
  const ofFile = weights === 'own' && own?.weights !== undefined ? { weights: own.weights } : {};
  const known = (graph: LayerGraph, values: ReadonlyMap<string, InferredValue> = new Map()): LayerGraph => {
    const classed = { ...graph, classes: valueClasses(model.graph) };
    return steeringValues ? withValuesOfRun(classed, values, weights) : classed;
  };
  if (cut === 'layer') {
    const needsRun = steeringValues || weights === 'own' || !isCompletelyTyped(model);
    const inferred = needsRun
      ? await agent.inferTypes({ ...weightlessBenchmark(model), ...ofFile }, signal, { steeringValues })
      : undefined;
    return { graph: known(layerGraph(model, inferred), inferred), weightBytes: 0, optimizeMs: 0 };
  }
  const whole = weights === 'own' && own !== undefined ? own : (filled ?? wholeOf(loaded, { keepDynamic }));
  // With the weights of the file, only a run gives types.
  const options = { steeringValues: steeringValues || weights === 'own' };
  const optimized = await agent.optimize(whole, optimizingRun(runOptions), signal, options);
  const { benchmark, values, costMs } = optimized;
  const kernels = modelFromBenchmark(benchmark, `${model.source}, optimized`);
  const graph = known(layerGraph(kernels, values), values);
  const toCheck = (): CheckableGraph => checkableGraph(kernels, graph);
  return { graph, weightBytes: inputBytes(benchmark.inputs, 'weight'), optimizeMs: costMs, optimized, toCheck };
}

/**
 * The graph that a cut takes apart. At the layer cut it is the model's own graph; the agent's runtime adds the types
 * that the file does not state. At the kernel cut it is the graph that the runtime executes. Where the graph does not
 * run with made-up weights, its sizes are those of a run with its own.
 */
export async function graphToCut(
  loaded: LoadedModel,
  settings: GraphSettings,
  agent: BenchmarkAgent,
  signal: AbortSignal,
  wholes: Wholes = {},
): Promise<GraphToCut> {
  const { own } = wholes;
  const byRun = (run: Run): Promise<GraphToCut> => graphByRun(loaded, settings, agent, signal, wholes, run);
  if (settings.values === 'run') {
    const isMadeUp = own === undefined && loaded.model.graph.initializers.size > 0;
    const weights = isMadeUp ? 'made up' : 'own';
    return { ...(await byRun({ weights, steeringValues: true })), runWith: weights };
  }
  try {
    return await byRun({ weights: 'made up', steeringValues: false });
  } catch (error) {
    if (own === undefined || !(error instanceof PlatformError) || error.code !== 'model') throw error;
    return byRun({ weights: 'own', steeringValues: false });
  }
}

export interface Decomposed extends GraphToCut {
  readonly decomposed: DecomposedModel;
  readonly costMs: number;
}

/** @param surroundingBytes bytes of the weights that surround a brick in its model; by default those of the graph */
export async function decompose(
  loaded: LoadedModel,
  settings: CutSettings,
  agent: BenchmarkAgent,
  signal: AbortSignal,
  { surroundingBytes, ...wholes }: Wholes & { readonly surroundingBytes?: number | undefined } = {},
): Promise<Decomposed> {
  const { name, model } = loaded;
  const toCut = await graphToCut(loaded, settings, agent, signal, wholes);
  const startMs = performance.now();
  const { description } = agent;
  const granularity = granularityOf(settings, description);
  const context: KernelContext = {
    layers: countLayers(model),
    ends: arityOf(model),
    measured: isAbleTo(description, 'measure_bricks') ? 'together' : 'copies',
    surroundings: { modelWeightBytes: surroundingBytes ?? toCut.weightBytes, cacheBytes: description.cacheBytes },
  };
  const decomposed =
    settings.cut === 'layer'
      ? decomposeModel(name, toCut.graph, granularity)
      : decomposeKernels(name, toCut.graph, granularity, context);
  return { ...toCut, decomposed, costMs: toCut.optimizeMs + performance.now() - startMs };
}
