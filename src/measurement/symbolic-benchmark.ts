import type { Model } from '../onnx/model/model.js';
import { encodeModelToBytes } from '../onnx/write/write-model.js';
import type { Benchmark } from './benchmark.js';
import { computeSignature, weightlessModel } from './weightless.js';

/** Keeps symbolic dimensions, so that a runtime optimizes as for the model's own file. @param open as in its file */
export function symbolicBenchmark(bound: Model, open: Model): Benchmark {
  const { model: weightless, inputs } = weightlessModel(bound);
  const { graph } = weightless;
  const types = new Map([...graph.types].map(([name, type]) => [name, open.graph.types.get(name) ?? type]));
  const model = encodeModelToBytes({ ...weightless, graph: { ...graph, types } });
  const sizes = JSON.stringify(inputs.map(({ dims }) => dims));
  return { model, inputs, signature: computeSignature(Buffer.concat([model, Buffer.from(sizes)])) };
}
