import {
  type AgentDescription,
  type Benchmark,
  type BenchmarkAgent,
  classesInFloat32,
  countLayers,
  type InferredValue,
  isAbleTo,
  isCompletelyTyped,
  type LayerGraph,
  layerGraph,
  type LoadedModel,
  type Model,
  modelFromBenchmark,
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
import { isSteeredByGiven, madeUpConstants, steeringByGiven } from '../cut/made-up-values.js';
import { type CheckableGraph, checkableGraph } from './checkable-graph.js';
import { countTexts, type EmptyCall } from './empty-call.js';
import { type Values, type WeightsOfRun, withValuesOfRun } from './values-of-run.js';
import { decomposeKernels, decomposeModel, hasShortKernels, type KernelContext } from './unique-bricks.js';

/** Which models are optimized with fewer of their repeated blocks. auto: large ones, and where it is faster. */
export const SHORTEN = ['auto', 'large', 'always', 'never'] as const;

export type Shorten = (typeof SHORTEN)[number];

export interface CutSettings {
  readonly cut: Cut;
  /** Longest brick, in layers or kernels; undefined: one layer, or the agent's default. */
  readonly granularity?: number | undefined;
  /** Whether dimensions that are open in the file stay open while the runtime optimizes; default: bound. */
  readonly keep_dynamic?: boolean | undefined;
  /** At the kernel cut; default: auto. */
  readonly shorten?: Shorten | undefined;
  /** Where steering values come from; default: made up. */
  readonly values?: Values | undefined;
  readonly runOptions: RunOptions;
}

/** Long enough for a repeated block. A brick's first kernel is measured wrongly: its graph does not write the input. */
const KERNELS_OF_COPIES = 64;

export function chooseGranularity(
  { cut, granularity }: Pick<CutSettings, 'cut' | 'granularity'>,
  agent: Pick<AgentDescription, 'abilities'>,
): number {
  return granularity ?? (cut === 'kernel' && !isAbleTo(agent, 'measure_bricks') ? KERNELS_OF_COPIES : 1);
}

type GraphSettings = Pick<CutSettings, 'cut' | 'keep_dynamic' | 'values' | 'runOptions'>;

export function countEnds({ graph }: Model): EmptyCall {
  const countOf = (names: readonly string[]): number =>
    countTexts(names.flatMap((name) => graph.types.get(name) ?? []));
  const [texts, returned] = [countOf(graph.inputs), countOf(graph.outputs)];
  return {
    inputs: graph.inputs.length,
    outputs: graph.outputs.length,
    ...(texts > 0 && { texts }),
    ...(returned > 0 && { returned_texts: returned }),
  };
}

export function buildWholeBenchmark(
  { model, open }: LoadedModel,
  { keep_dynamic: keepDynamic = false }: Pick<CutSettings, 'keep_dynamic'>,
): Benchmark {
  const classed = withClassesOfConstants(model);
  return keepDynamic && open !== undefined ? symbolicBenchmark(classed, open) : weightlessBenchmark(classed);
}

interface GraphToCut {
  /** The graph that the runtime executes; at the layer cut, the graph of the model itself. */
  readonly graph: LayerGraph;
  readonly weightBytes: number;
  /** Wall time, also where the graph comes from the cache; 0 where it was not optimized. */
  readonly optimizeMs: number;
  /** undefined at the layer cut. */
  readonly optimized?: Model | undefined;
  readonly toCheck?: (() => CheckableGraph) | undefined;
  /** Weights of the run whose values steer operators; undefined where these values are made up. */
  readonly runWith?: WeightsOfRun | undefined;
}

interface WholeBenchmarks {
  readonly own?: Benchmark | undefined;
  /** As {@link buildWholeBenchmark} makes it. */
  readonly filled?: Benchmark | undefined;
}

async function graphByRun(
  loaded: LoadedModel,
  settings: GraphSettings,
  agent: BenchmarkAgent,
  signal: AbortSignal,
  { own, filled }: WholeBenchmarks,
  weights: WeightsOfRun,
  steeringValues = false,
): Promise<GraphToCut> {
  const { model } = loaded;
  const { cut, runOptions } = settings;
  const needsGiven = !steeringValues && isSteeredByGiven(model);
  const ofFile = weights === 'own' && own?.weights !== undefined ? { weights: own.weights } : {};
  const known = (graph: LayerGraph, values: ReadonlyMap<string, InferredValue> = new Map()): LayerGraph => {
    const madeUp = weights === 'own' ? undefined : madeUpConstants(model);
    const classed = { ...graph, classes: classesInFloat32(graph.layers, valueClasses(model.graph)), madeUp };
    if (steeringValues) return withValuesOfRun(classed, values, weights);
    return needsGiven ? withValuesOfRun(classed, values, weights, steeringByGiven(classed)) : classed;
  };
  if (cut === 'layer') {
    const options = { steeringValues: steeringValues || needsGiven };
    const needsRun = options.steeringValues || weights === 'own' || !isCompletelyTyped(model);
    const inferred = needsRun
      ? await agent.inferTypes({ ...weightlessBenchmark(model), ...ofFile }, signal, options)
      : undefined;
    return { graph: known(layerGraph(model, inferred), inferred), weightBytes: 0, optimizeMs: 0 };
  }
  const whole = weights === 'own' && own !== undefined ? own : (filled ?? buildWholeBenchmark(loaded, settings));
  // With the weights of the file, only a run gives types.
  const options = { steeringValues: steeringValues || needsGiven || weights === 'own' };
  const { benchmark, values, costMs } = await agent.optimize(whole, optimizingRun(runOptions), signal, options);
  const optimized = modelFromBenchmark(benchmark, `${model.source}, optimized`);
  const graph = known(layerGraph(optimized, values), values);
  const toCheck = (): CheckableGraph => checkableGraph(optimized, graph);
  return { graph, weightBytes: inputBytes(benchmark.inputs, 'weight'), optimizeMs: costMs, optimized, toCheck };
}

/** Where the graph does not run with made-up weights, its sizes are those of a run with its own. */
export async function graphToCut(
  loaded: LoadedModel,
  settings: GraphSettings,
  agent: BenchmarkAgent,
  signal: AbortSignal,
  wholes: WholeBenchmarks = {},
): Promise<GraphToCut> {
  const { own } = wholes;
  const given = [loaded, settings, agent, signal, wholes] as const;
  if (settings.values === 'run') {
    const runWith = own === undefined && loaded.model.graph.initializers.size > 0 ? 'made up' : 'own';
    return { ...(await graphByRun(...given, runWith, true)), runWith };
  }
  try {
    return await graphByRun(...given, 'made up');
  } catch (error) {
    if (own === undefined || !(error instanceof PlatformError) || error.code !== 'model') throw error;
    return graphByRun(...given, 'own');
  }
}

/** @param surroundingBytes weights that surround a brick in its model; by default those of the graph */
export async function decompose(
  loaded: LoadedModel,
  settings: CutSettings,
  agent: BenchmarkAgent,
  signal: AbortSignal,
  { surroundingBytes, ...wholes }: WholeBenchmarks & { readonly surroundingBytes?: number | undefined } = {},
) {
  const { name, model } = loaded;
  const toCut = await graphToCut(loaded, settings, agent, signal, wholes);
  const startMs = performance.now();
  const { description } = agent;
  const keepsProfile = isAbleTo(description, 'measure_bricks');
  const mayBeLonger = settings.cut === 'kernel' && settings.granularity === undefined && keepsProfile;
  const isShort = mayBeLonger && hasShortKernels(toCut.graph);
  const granularity = isShort ? KERNELS_OF_COPIES : chooseGranularity(settings, description);
  const context: KernelContext = {
    layers: countLayers(model),
    ends: countEnds(model),
    measured: isShort ? 'short' : keepsProfile ? 'together' : 'copies',
    surroundings: { modelWeightBytes: surroundingBytes ?? toCut.weightBytes, cacheBytes: description.cacheBytes },
  };
  const decomposed =
    settings.cut === 'layer'
      ? decomposeModel(name, toCut.graph, granularity)
      : decomposeKernels(name, toCut.graph, granularity, context);
  const own = new Set(model.graph.nodes.flatMap((node) => [node.name, ...node.outputs]));
  const computes = decomposed.computes?.map((names) => names.filter((one) => own.has(one)));
  const costMs = toCut.optimizeMs + performance.now() - startMs;
  return { ...toCut, decomposed: { ...decomposed, computes }, costMs };
}
