import type { Model } from '../onnx/model/model.js';
import { encodeModelToBytes } from '../onnx/write/write-model.js';
import type { Benchmark } from './benchmark.js';
import { signatureOf, weightlessModel } from './weightless.js';

/**
 * A benchmark whose file keeps the model's symbolic dimensions, while its inputs have sizes. A runtime then optimizes
 * it with the same knowledge of its shapes as the model's own file gives. The signature also depends on the sizes.
 *
 * @param bound the model with all dimensions bound
 * @param open the same model with the dimensions that its file leaves open
 * @throws PlatformError as {@link weightlessModel}
 */
export function symbolicBenchmark(bound: Model, open: Model): Benchmark {
  const { model: weightless, inputs } = weightlessModel(bound);
  const { graph } = weightless;
  const types = new Map([...graph.types].map(([name, type]) => [name, open.graph.types.get(name) ?? type]));
  const model = encodeModelToBytes({ ...weightless, graph: { ...graph, types } });
  const sizes = JSON.stringify(inputs.map(({ dims }) => dims));
  return { model, inputs, signature: signatureOf(Buffer.concat([model, Buffer.from(sizes)])) };
}
