import {
  GRPCInferenceServiceService,
  type ModelInferRequest,
  type ModelMetadataResponse_TensorMetadata,
} from '../../generated/inference/inference.js';
import { counted } from '../../base/counted.js';
import { PlatformError } from '../../base/errors.js';
import { type ElementType, elementCount, tensorBytes } from '../../onnx/model/element-type.js';
import { fillBlocks } from '../../onnx/values/fill.js';
import { createRpcClient } from '../../rpc/client.js';
import type { Serving } from '../../agent/client/serving-client.js';
import type { TargetSpec } from '../messages.js';
import { QUERY_LIMIT_MS, UNKNOWN_END, unaryTarget } from './unary-target.js';

const { modelInfer, modelMetadata } = GRPCInferenceServiceService;

const DESCRIBE_LIMIT_MS = 30_000;

const MAX_INPUT_BYTES = 32 * 2 ** 20;

const ELEMENT_TYPES: ReadonlyMap<string, ElementType> = new Map([
  ['BOOL', 'bool'],
  ['UINT8', 'uint8'],
  ['UINT16', 'uint16'],
  ['UINT32', 'uint32'],
  ['UINT64', 'uint64'],
  ['INT8', 'int8'],
  ['INT16', 'int16'],
  ['INT32', 'int32'],
  ['INT64', 'int64'],
  ['FP16', 'float16'],
  ['FP32', 'float32'],
  ['FP64', 'float64'],
]);

/** The first open dimension is the batch, every other one is 1. */
function madeInput({ name, datatype, shape }: ModelMetadataResponse_TensorMetadata, samples: number) {
  const elementType = ELEMENT_TYPES.get(datatype);
  if (elementType === undefined) {
    throw new PlatformError(
      'unsupported',
      `input ${name} has the type ${datatype}, for which no values can be made up`,
    );
  }
  const dims = shape.map((size, index) => (size < 0n ? (index === 0 ? samples : 1) : Number(size)));
  const [batch] = dims;
  if (shape[0] !== undefined && shape[0] >= 0n && batch !== samples) {
    throw new PlatformError(
      'unsupported',
      `input ${name} has a fixed batch of ${batch}; send queries of that size (--batch)`,
    );
  }
  if (tensorBytes({ elementType, dims }) > MAX_INPUT_BYTES) {
    throw new PlatformError('unsupported', `input ${name} is larger than ${MAX_INPUT_BYTES / 2 ** 20} MiB`);
  }
  const blocks = [...fillBlocks(elementType, elementCount(dims), { low: 0, high: 1, seed: 1 })];
  return { tensor: { name, datatype, shape: dims.map(BigInt) }, bytes: Buffer.concat(blocks) };
}

/** @throws PlatformError where the server does not answer, or states inputs that cannot be made up */
export async function openInferenceTarget(spec: Extract<TargetSpec, { kind: 'oip' }>): Promise<Serving> {
  const { reach, model, samples } = spec;
  const client = createRpcClient(reach.address, 'inference server', reach.options);
  try {
    const asked = { name: model.name, version: model.version };
    const { inputs } = await client.unary(modelMetadata, asked, { deadlineMs: DESCRIBE_LIMIT_MS });
    // All requests are made before the run.
    const requests = new Map(
      samples.map((size) => {
        const made = inputs.map((input) => madeInput(input, size));
        const request: ModelInferRequest = {
          modelName: model.name,
          modelVersion: model.version,
          id: '',
          inputs: made.map(({ tensor }) => tensor),
          rawInputContents: made.map(({ bytes }) => bytes),
        };
        return [size, request] as const;
      }),
    );
    const target = unaryTarget(async (size) => {
      const request = requests.get(size);
      if (request === undefined) throw new PlatformError('usage', `no query of ${counted(size, 'sample')} was made`);
      return client.unary(modelInfer, request, { deadlineMs: QUERY_LIMIT_MS });
    });
    const close: Serving['close'] = () => {
      client.close();
      return Promise.resolve(UNKNOWN_END);
    };
    return { target, close };
  } catch (error) {
    client.close();
    throw error;
  }
}
