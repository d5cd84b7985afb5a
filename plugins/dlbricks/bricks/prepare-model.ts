import pMap from 'p-map';
import {
  type Benchmark,
  type BenchmarkAgent,
  changeableBatch,
  countLayers,
  isCompletelyTyped,
  largestLayer,
  layerGraph,
  type Limits,
  type LoadedModel,
  memoryProblem,
  memoryThere,
  type Model,
  PlatformError,
  signatureWithoutName,
  findStaticType,
  sumOf,
  tensorBytes,
  unusableModel,
  withOwnWeights,
} from '../../../src/plugin-api.js';
import type { CheckableGraph } from './checkable-graph.js';
import { type CutSettings, decompose, graphToCut, buildWholeBenchmark } from './decompose.js';
import { checkKernels, type KernelCheck } from './own-graph.js';
import { type Extension, LARGE_BYTES, prepareExtended, describeShortening } from './prepare-extended.js';
import type { ModelRecipe } from './recipe.js';
import type { DecomposedModel } from './unique-bricks.js';
import type { WeightsOfRun } from './values-of-run.js';

export type ChosenInputs = Pick<LoadedModel, 'assumed' | 'sizes' | 'tokens'>;

export interface PreparedModel extends DecomposedModel {
  /** With the weights of its file where the agent can have them. */
  readonly whole: Benchmark;
  /** undefined at the layer cut, and without the file's weights. */
  readonly kernelCheck?: KernelCheck | undefined;
  /** Weights of the run whose values steer operators; undefined where these values are made up. */
  readonly runWith?: WeightsOfRun | undefined;
  /** Or the reason why the bricks cannot be checked. */
  readonly toCheck?: (() => CheckableGraph | Promise<CheckableGraph>) | string | undefined;
  readonly inputs?: ChosenInputs | undefined;
  /** undefined where the graph was optimized as it is. */
  readonly extension?: Extension | undefined;
  /** Models with the same signature differ at most in their weights. */
  readonly graph?: string | undefined;
  readonly refusal?: string;
  /** Wall time, ms; with the original optimization where the graph comes from the cache. */
  readonly costMs: number;
}

export async function prepareModel(
  loaded: LoadedModel,
  settings: CutSettings,
  agent: BenchmarkAgent,
  signal: AbortSignal,
): Promise<PreparedModel> {
  const { weights, assumed, sizes, tokens } = loaded;
  const filled = buildWholeBenchmark(loaded, settings);
  const own = await withOwnWeights(filled, weights, agent);
  const inputs = { assumed, sizes, tokens };
  const common = { whole: own ?? filled, graph: signatureWithoutName(loaded.model), inputs };
  const shortening = describeShortening(loaded, settings);
  const found = shortening && (await prepareExtended(loaded, shortening, settings, agent, signal));
  if (found?.kind === 'extended') {
    const { decomposed, extension, costMs } = found;
    const reason = 'only graphs with fewer of its blocks were optimized, without the weights of its file';
    const kernelCheck = own && { kind: 'failed' as const, reason };
    const isLarge = shortening !== undefined && shortening.wholeBytes > LARGE_BYTES;
    const toCheck = async (): Promise<CheckableGraph> => {
      const { toCheck: make } = await graphToCut(loaded, settings, agent, signal, { own, filled });
      if (make === undefined) throw new PlatformError('internal', 'a graph of kernels cannot be checked');
      return make();
    };
    const check = isLarge ? 'only graphs with fewer of its blocks were optimized' : toCheck;
    return { ...decomposed, ...common, extension, kernelCheck, toCheck: check, costMs };
  }
  const made = await decompose(loaded, settings, agent, signal, { own, filled });
  const { decomposed, optimized, toCheck, runWith, costMs } = made;
  const checked =
    own === undefined || optimized === undefined
      ? undefined
      : await checkKernels(own, optimized, settings.runOptions, agent, signal);
  return {
    ...decomposed,
    ...common,
    extension: found && { kind: 'whole', reason: found.reason },
    kernelCheck: checked?.check,
    runWith,
    toCheck: toCheck ?? 'bricks of the layer cut are no kernels',
    costMs: costMs + (checked?.costMs ?? 0) + (found?.costMs ?? 0),
  };
}

export async function prepareOrRefuse(
  loaded: LoadedModel,
  settings: CutSettings,
  agent: BenchmarkAgent,
  signal: AbortSignal,
): Promise<PreparedModel> {
  try {
    return await prepareModel(loaded, settings, agent, signal);
  } catch (error) {
    return refusedModel(loaded, settings, unusableModel(loaded.name, error).reason);
  }
}

export function refusedModel(loaded: LoadedModel, settings: CutSettings, refusal: string): PreparedModel {
  const { name, model, assumed, sizes } = loaded;
  return {
    ...withoutBricks({ name, layers: countLayers(model) }),
    largest: { weightBytes: 0, valueBytes: 0 },
    whole: buildWholeBenchmark(loaded, settings),
    inputs: { assumed, sizes },
    refusal,
    costMs: 0,
  };
}

function withoutBricks({ name, layers }: Pick<ModelRecipe, 'name' | 'layers'>) {
  return { recipe: { name, layers, bricks: [], sequences: [], edges: [] }, bricks: [], roughMs: [], facts: [] };
}

/** Most models that are prepared at once, on an agent with many cores. */
export const MAX_CONCURRENT = 8;

/**
 * Takes as many at once as the machine has cores: nothing is timed meanwhile. Results are in order.
 *
 * @param onModel called before each model, with how many are done already
 */
export async function prepareAll(
  models: readonly LoadedModel[],
  settings: CutSettings,
  { agent, signal }: { readonly agent: BenchmarkAgent; readonly signal: AbortSignal },
  prepare: typeof prepareModel,
  onModel: (model: LoadedModel, done: number) => void,
): Promise<readonly PreparedModel[]> {
  let done = 0;
  const prepareOne = async (model: LoadedModel): Promise<PreparedModel> => {
    onModel(model, done);
    const prepared = await prepare(model, settings, agent, signal);
    done++;
    return prepared;
  };
  return pMap(models, prepareOne, { concurrency: Math.min(agent.description.cores, MAX_CONCURRENT) });
}

/** Why no machine of this kind could measure a model: its inputs alone are too large. */
export function problemWithInputs(
  loaded: LoadedModel,
  limits: Limits,
  { description }: Pick<BenchmarkAgent, 'description'>,
): string | undefined {
  const { model } = loaded;
  // Bricks that are in the store need no free memory.
  const there = memoryThere(limits, description, Infinity);
  const valueBytes = sumOf(
    model.graph.inputs.flatMap((name) => findStaticType(model.graph.types.get(name)) ?? []).map(tensorBytes),
  );
  if (valueBytes <= there.bytes) return undefined;
  const need = isCompletelyTyped(model) ? largestLayer(layerGraph(model)) : { weightBytes: 0, valueBytes };
  return memoryProblem('its largest layer', need, changeableBatch(loaded), there);
}

export function refusedIfTooLarge(
  prepared: PreparedModel,
  loaded: LoadedModel,
  limits: Limits,
  agent: Pick<BenchmarkAgent, 'description'>,
): PreparedModel {
  const { recipe, largest } = prepared;
  const there = memoryThere(limits, agent.description);
  const refusal = memoryProblem('its largest brick', largest, changeableBatch(loaded), there);
  if (refusal === undefined) return prepared;
  return { ...prepared, ...withoutBricks(recipe), call: undefined, outputCopy: undefined, refusal };
}

/** The first dimension of the first input, by convention; 1 where there is none. */
export function findBatchSize({ graph }: Model): number {
  const batch = graph.types.get(graph.inputs[0] ?? '')?.dims?.[0];
  return typeof batch === 'number' && batch >= 1 ? batch : 1;
}
