import type { Model } from '../onnx/model/model.js';
import { parseModel } from '../onnx/read/read-model.js';
import { encodeModelToBytes } from '../onnx/write/write-model.js';
import type { Benchmark } from './benchmark.js';
import { signatureOf, weightlessBenchmark } from './weightless.js';

/**
 * A model whose file keeps its symbolic dimensions, as a benchmark whose inputs have sizes: a runtime that optimizes it
 * knows no more of its shapes than one that opens the model's own file. The signature depends on the sizes as well.
 *
 * @param bound with all dimensions bound
 * @param open the same with the dimensions that its file leaves open
 * @throws PlatformError as {@link weightlessBenchmark}
 */
export function symbolicBenchmark(bound: Model, open: Model): Benchmark {
  const benchmark = weightlessBenchmark(bound);
  const { graph, ...rest } = parseModel(benchmark.model, bound.source);
  const types = new Map([...graph.types].map(([name, type]) => [name, open.graph.types.get(name) ?? type]));
  const model = encodeModelToBytes({ ...rest, graph: { ...graph, types } });
  const sizes = JSON.stringify(benchmark.inputs.map(({ dims }) => dims));
  return { ...benchmark, model, signature: signatureOf(Buffer.concat([model, Buffer.from(sizes)])) };
}
