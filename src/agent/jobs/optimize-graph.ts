import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Benchmark } from '../../measurement/benchmark.js';
import { givenValues, modelFromBenchmark, weightlessBenchmark } from '../../measurement/weightless.js';
import { hoistSubgraphWeights } from '../../onnx/layers/hoist-subgraph-weights.js';
import type { Model } from '../../onnx/model/model.js';
import { readModel } from '../../onnx/read/read-model.js';
import { listSubgraphs } from '../../onnx/model/subgraphs.js';
import { materialize } from '../../predictor/materialize.js';
import { modelWithOwnWeights } from '../../predictor/model-with-own-weights.js';
import { optimizeFilledModel } from '../../predictor/open-filled-model.js';
import type { InferredValue } from '../../onnx/layers/layer-graph.js';
import type { OptimizedGraph } from '../benchmark-agent.js';
import { orRefuse } from '../failure.js';
import { orOfMachine } from '../machine-failure.js';
import { inferTypes } from './infer-types.js';
import type { OptimizeJob } from './job.js';
import { checkMemory, type OpenContext } from './open-benchmark.js';

function hasSubgraphs(benchmark: Benchmark): boolean {
  const { nodes } = modelFromBenchmark(benchmark, 'graph').graph;
  return nodes.some(({ attributes }) => listSubgraphs(attributes).length > 0);
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
  const folder = join(context.temporaryFolder, 'optimized');
  checkMemory(job);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { predictor, temporaryFolder } = context;
    const { weights } = benchmark;
    // A run of the optimized graph with its own weights needs them.
    const keepsValues = steeringValues && weights !== undefined;
    const keepsWeights = keepsValues || hasSubgraphs(benchmark);
    const options = { folder, temporaryFolder, keepsWeights, keepsValues };
    const fillable = weights === undefined ? materialize(benchmark) : await modelWithOwnWeights(benchmark, weights);
    const path = await orRefuse('open', () => optimizeFilledModel(predictor, fillable, runOptions, options));
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
