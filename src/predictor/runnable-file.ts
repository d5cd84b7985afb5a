import { ModelProto } from '../generated/onnx/onnx.js';
import { type Benchmark, inputBytes } from '../measurement/benchmark.js';
import { inlineTensor } from './encode-weights.js';
import { materialize } from './materialize.js';
import { PROTOBUF_LIMIT_BYTES } from './predictor.js';

/** For any reader: made-up weights are initializers; undefined past ONNX's limit. @throws PlatformError `usage` */
export function runnableFile(benchmark: Benchmark): Uint8Array | undefined {
  if (inputBytes(benchmark.inputs, 'weight') + benchmark.model.length > PROTOBUF_LIMIT_BYTES) return undefined;
  const { graph: encoded, weights } = materialize(benchmark);
  const model = ModelProto.decode(encoded);
  const graph = model.graph && {
    ...model.graph,
    initializer: [...model.graph.initializer, ...weights.map(inlineTensor)],
  };
  return ModelProto.encode({ ...model, graph }).finish();
}
