import type { Benchmark } from '../measurement/benchmark.js';
import { hoistSubgraphWeights } from '../onnx/layers/hoist-subgraph-weights.js';
import type { DeclaredType, Model, Tensor } from '../onnx/model/model.js';
import { parseModel, readModel } from '../onnx/read/read-model.js';
import { encodeModelToBytes } from '../onnx/write/write-model.js';
import { type FillableModel, type FillableWeight, type MaterializeOptions, withOutputs } from './materialize.js';

function boundTypes({ graph }: Model, benchmark: Benchmark): ReadonlyMap<string, DeclaredType> {
  const bound = parseModel(benchmark.model, 'benchmark').graph.types;
  return new Map([...graph.types].map(([name, type]) => [name, bound.get(name) ?? type]));
}

const STAND_IN = { low: 0, high: 1, seed: 1 } as const;

/** @param path of the file that the benchmark was made of @throws PlatformError `model` */
export async function modelWithOwnWeights(
  benchmark: Benchmark,
  path: string,
  options: MaterializeOptions = {},
): Promise<FillableModel> {
  const model = hoistSubgraphWeights(await readModel(path));
  const { graph } = model;
  const kept = new Map<string, Tensor>();
  const weights: FillableWeight[] = [];
  for (const [name, tensor] of graph.initializers) {
    const { elementType, dims, data } = tensor;
    if (data.kind !== 'file') kept.set(name, tensor);
    else weights.push({ name, role: 'weight', elementType, dims, fill: STAND_IN, data });
  }
  const bytes = encodeModelToBytes({
    ...model,
    graph: { ...graph, initializers: kept, types: boundTypes(model, benchmark) },
  });
  return { graph: options.everyValueIsOutput === true ? withOutputs(bytes, benchmark, options) : bytes, weights, path };
}
