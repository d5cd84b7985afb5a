import {
  type Benchmark,
  type BenchmarkAgent,
  countLayers,
  type LoadedModel,
  unusableModel,
  weightlessBenchmark,
  withOwnWeights,
} from '../../../src/plugin-api.js';
import type { CheckableGraph } from './checkable-graph.js';
import { type CutSettings, decompose, wholeOf } from './decompose.js';
import { checkKernels, type KernelCheck } from './own-graph.js';
import { type Extension, prepareExtended, shorteningOf } from './prepare-extended.js';
import type { DecomposedModel } from './unique-bricks.js';
import type { WeightsOfRun } from './values-of-run.js';

/** The choices for a model's inputs. */
export type ChosenInputs = Pick<LoadedModel, 'assumed' | 'sizes'>;

/** A model, and its bricks. */
export interface PreparedModel extends DecomposedModel {
  /** With the weights of its file where the agent can have them. */
  readonly whole: Benchmark;
  /** The check of the kernels against those of the file itself; undefined at the layer cut, and without the file's weights. */
  readonly kernelCheck?: KernelCheck | undefined;
  /** Weights of the run whose values steer operators; undefined where these values are made up. */
  readonly runWith?: WeightsOfRun | undefined;
  /** The whole graph of kernels, for a check of the bricks, or the reason why they cannot be checked. */
  readonly toCheck?: (() => CheckableGraph) | string | undefined;
  readonly inputs?: ChosenInputs | undefined;
  /** How the kernels of a model with repeated blocks were found; undefined where its graph was optimized as it is. */
  readonly extension?: Extension | undefined;
  /**
   * Signature of the model's graph without its name: models with the same signature differ at most in their weights.
   */
  readonly graph?: string | undefined;
  /** Why the runtime refuses the graph, which then has no bricks; undefined where it accepts the graph. */
  readonly refusal?: string;
  /**
   * Wall time of the preparation, ms. For a graph from the cache, it includes the time of the original optimization.
   */
  readonly costMs: number;
}

function graphSignature({ model }: LoadedModel): string {
  return weightlessBenchmark({ ...model, graph: { ...model.graph, name: '' } }).signature;
}

/**
 * A model as bricks. For a model with many repeated blocks, only shortened graphs are optimized where that suffices.
 */
export async function prepareModel(
  loaded: LoadedModel,
  settings: CutSettings,
  agent: BenchmarkAgent,
  signal: AbortSignal,
): Promise<PreparedModel> {
  const { weights, assumed, sizes } = loaded;
  const filled = wholeOf(loaded, settings);
  const own = await withOwnWeights(filled, weights, agent);
  const common = { whole: own ?? filled, graph: graphSignature(loaded), inputs: { assumed, sizes } };
  const shortening = shorteningOf(loaded, settings);
  const found = shortening && (await prepareExtended(loaded, shortening, settings, agent, signal));
  if (found?.kind === 'extended') {
    const { decomposed, extension, costMs } = found;
    const reason = 'only graphs with fewer of its blocks were optimized, without the weights of its file';
    const kernelCheck = own && { kind: 'failed' as const, reason };
    return {
      ...decomposed,
      ...common,
      extension,
      kernelCheck,
      toCheck: 'only graphs with fewer of its blocks were optimized',
      costMs,
    };
  }
  const { decomposed, optimized, toCheck, runWith, costMs } = await decompose(loaded, settings, agent, signal, { own });
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
