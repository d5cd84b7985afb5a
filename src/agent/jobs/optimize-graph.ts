import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sumOf } from '../../base/sum-of.js';
import type { Benchmark } from '../../measurement/benchmark.js';
import { givenValues, modelFromBenchmark, weightlessBenchmark } from '../../measurement/weightless.js';
import { hoistSubgraphWeights } from '../../onnx/layers/hoist-subgraph-weights.js';
import { tensorBytes } from '../../onnx/model/element-type.js';
import type { Graph, Model } from '../../onnx/model/model.js';
import { readModel } from '../../onnx/read/read-model.js';
import { hasSubgraphs } from '../../onnx/model/subgraphs.js';
import { materialize } from '../../predictor/materialize.js';
import { modelWithOwnWeights } from '../../predictor/model-with-own-weights.js';
import { fitsInMemory, inMemory } from '../../predictor/memory-folder.js';
import { optimizeFilledModel } from '../../predictor/open-filled-model.js';
import { type Predictor, PROTOBUF_LIMIT_BYTES } from '../../predictor/predictor.js';
import type { InferredValue } from '../../onnx/layers/layer-graph.js';
import type { OptimizedGraph } from '../benchmark-agent.js';
import { orRefuse } from '../failure.js';
import { orOfMachine } from '../machine-failure.js';
import { inferTypes } from './infer-types.js';
import type { OptimizeJob } from './job.js';
import { checkMemory, type OpenContext } from './open-benchmark.js';

/** The runtime reorders the filters of convolutions, and computes the nodes that read only constants. */
function listChanged({ nodes, inputs }: Graph): ReadonlySet<string> {
  const varying = new Set(inputs);
  const changed = new Set<string>();
  for (const node of nodes) {
    const isComputed = !node.inputs.some((name) => varying.has(name));
    if (!isComputed) for (const name of node.outputs) varying.add(name);
    if (isComputed || CONVOLUTIONS.has(node.opType)) for (const name of node.inputs) changed.add(name);
  }
  return changed;
}

const CONVOLUTIONS = new Set(['Conv', 'ConvTranspose']);

/** Below, the optimized model is small however it is written. */
const MIN_KEPT_BYTES = 16 * 2 ** 20;

/**
 * Whether the optimized model is written to memory with the weights that the runtime changed, and refers to the others.
 * Else the runtime reads all weights, only to discard them.
 */
function isWrittenToMemory(graph: Graph, { inputs }: Benchmark, { mapsWeightFiles }: Predictor): boolean {
  const changed = listChanged(graph);
  const weights = inputs.filter(({ role }) => role === 'weight');
  const bytes = sumOf(weights.map(tensorBytes));
  const changedBytes = sumOf(weights.filter(({ name }) => changed.has(name)).map(tensorBytes));
  const isFaster = bytes >= MIN_KEPT_BYTES && changedBytes <= bytes / 2;
  return mapsWeightFiles && isFaster && changedBytes < PROTOBUF_LIMIT_BYTES && fitsInMemory(changedBytes);
}

/** Gives a graph that was optimized with open dimensions the input sizes of its benchmark. */
function withSizes(model: Model, { inputs }: Benchmark): Model {
  const { graph } = model;
  const sizes = inputs.filter(({ name }) => graph.inputs.includes(name));
  const types = new Map([
    ...graph.types,
    ...sizes.map(({ name, elementType, dims }) => [name, { elementType, dims }] as const),
  ]);
  return { ...model, graph: { ...graph, types } };
}

/**
 * The optimized graph has no shapes of its values, so they are inferred, unless the graph has its own weights.
 *
 * @throws PlatformError `unsupported` (refused graph), `model` (failed run), `storage` (no room for temporary files)
 */
export async function optimizeGraph(job: OptimizeJob, context: OpenContext): Promise<Omit<OptimizedGraph, 'costMs'>> {
  const { benchmark, runOptions, memoryLimitBytes, steeringValues = false } = job;
  checkMemory(job);
  const { predictor, temporaryFolder } = context;
  const { weights } = benchmark;
  const fillable = weights === undefined ? materialize(benchmark) : await modelWithOwnWeights(benchmark, weights);
  // A run of the optimized graph with its own weights needs them.
  const keepsValues = steeringValues && weights !== undefined;
  const { graph: source } = modelFromBenchmark(benchmark, 'graph');
  const isInMemory = !keepsValues && isWrittenToMemory(source, benchmark, predictor);
  const keepsWeights = keepsValues || source.nodes.some(hasSubgraphs);
  const folder = join(isInMemory ? inMemory(temporaryFolder) : temporaryFolder, 'optimized');
  const options = { folder, temporaryFolder, keepsWeights, keepsValues };
  const optimize = (): Promise<string> => optimizeFilledModel(predictor, fillable, runOptions, options);
  const optimizeInMemory = (): Promise<string> =>
    // Where more weights changed than a model in one file can hold, it cannot be written.
    optimizeFilledModel(predictor, fillable, runOptions, { ...options, keepsWeights: true }).catch(optimize);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const path = await orRefuse('open', isInMemory ? optimizeInMemory : optimize);
    // The files of large weights no longer exist.
    const written = await readModel(path, { ownValues: 'gone' }).catch((error: unknown) => {
      throw orOfMachine(error);
    });
    const read = withSizes(written, benchmark);
    const { graph, ...model } = hoistSubgraphWeights(read);
    const optimized = weightlessBenchmark({ ...model, graph: { ...graph, given: givenValues(benchmark) } });
    const typed = keepsValues ? { ...optimized, weights: path } : optimized;
    // Without values of a run, only the kernels of a graph with its own weights are used.
    const values =
      weights === undefined || keepsValues
        ? await inferTypes({ benchmark: typed, memoryLimitBytes, steeringValues }, context)
        : new Map<string, InferredValue>();
    return { benchmark: optimized, values };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
