import type { InferenceSession, Tensor, TensorConstructor } from 'onnxruntime-node';
import { PlatformError } from '../base/errors.js';
import { sessionEntry } from '../measurement/session-entry.js';
import type { RunOptions } from '../measurement/system.js';
import { ELEMENT_TYPES, isElementType } from '../onnx/model/element-type.js';
import type { TensorType } from '../onnx/model/model.js';
import { findStaticType } from '../onnx/model/static-type.js';
import { MIN_ALIASED_BYTES } from './encode-weights.js';
import type { OptimizeOptions, PreparedRun } from './predictor.js';
import { elementsOf, type TensorValue } from './tensor-value.js';

// Common to both JavaScript bindings of ONNX Runtime.

/** Warnings are about models, and a worker process's standard error is not shown. */
const LOG_SEVERITY_ERROR = 3;

function makeTensor(make: TensorConstructor, name: string, value: TensorValue): Tensor {
  if (!ELEMENT_TYPES[value.elementType].fed) {
    throw new PlatformError('unsupported', `input ${name}: the runtime takes no ${value.elementType} from JavaScript`);
  }
  if (value.strings !== undefined) return new make('string', [...value.strings], value.dims);
  return new make(value.elementType as 'float32', elementsOf(value) as Float32Array, value.dims);
}

function readValue(tensor: Tensor): TensorValue {
  const { type, dims, data } = tensor;
  // Strings come as a plain array.
  if (Array.isArray(data)) return { elementType: type, dims, bytes: new Uint8Array() };
  const bytes = new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
  return { elementType: type, dims, bytes };
}

/** @param make the binding's own Tensor @throws PlatformError `unsupported` where an input cannot be passed in */
export function prepareRun(
  make: TensorConstructor,
  session: InferenceSession,
  values: ReadonlyMap<string, TensorValue>,
): PreparedRun {
  const feeds = Object.fromEntries([...values].map(([name, value]) => [name, makeTensor(make, name, value)]));
  // The bindings cannot return sequences, maps and optionals: asking for them fails the run.
  const fetches = session.outputMetadata.filter(({ isTensor }) => isTensor).map(({ name }) => name);
  return {
    async execute() {
      await session.run(feeds, fetches);
    },
    async evaluate() {
      const results = await session.run(feeds, fetches);
      return new Map(Object.entries(results).map(([name, tensor]) => [name, readValue(tensor)]));
    },
  };
}

/** Of outputs where every dimension is known. */
export function staticTypesIn(outputs: readonly InferenceSession.ValueMetadata[]): ReadonlyMap<string, TensorType> {
  const types = new Map<string, TensorType>();
  for (const output of outputs) {
    if (!output.isTensor || !isElementType(output.type)) continue;
    const type = findStaticType({ elementType: output.type, dims: output.shape });
    if (type !== undefined) types.set(output.name, type);
  }
  return types;
}

export function buildSessionOptions(runOptions: RunOptions): InferenceSession.SessionOptions {
  const entries = (runOptions.session ?? []).map(sessionEntry).filter((entry) => entry !== undefined);
  const { enableCpuMemArena, enableMemPattern, ...keys } = Object.fromEntries<string>(entries);
  return {
    intraOpNumThreads: runOptions.threads,
    interOpNumThreads: runOptions.interOpThreads ?? 1,
    executionMode: runOptions.executionMode ?? 'sequential',
    graphOptimizationLevel: runOptions.optimizationLevel,
    executionProviders: [runOptions.executionProvider],
    logSeverityLevel: LOG_SEVERITY_ERROR,
    ...(enableCpuMemArena !== undefined && { enableCpuMemArena: enableCpuMemArena === '1' }),
    ...(enableMemPattern !== undefined && { enableMemPattern: enableMemPattern === '1' }),
    extra: keys,
  };
}

/** So that no model exceeds protobuf's 2 GB. Smaller weights stay in the model: they may steer an operator. */
const EXTERNAL_FROM_BYTES = String(MIN_ALIASED_BYTES);

export const OPTIMIZED_WEIGHTS = 'optimized.bin';

/**
 * Keys: onnxruntime_session_options_config_keys.h of ONNX Runtime.
 *
 * @param keepsWeights in the model: weights of a subgraph would be written twice into a separate file
 */
export function buildOptimizingOptions(
  runOptions: RunOptions,
  optimizedModelFilePath: string,
  { keepsWeights }: OptimizeOptions,
): InferenceSession.SessionOptions {
  const external = {
    'session.optimized_model_external_initializers_file_name': OPTIMIZED_WEIGHTS,
    'session.optimized_model_external_initializers_min_size_in_bytes': EXTERNAL_FROM_BYTES,
  };
  // The session runs nothing, so its kernels need no packed weights.
  const unpacked = { 'session.disable_prepacking': '1', ...(keepsWeights ? {} : external) };
  const options = buildSessionOptions(runOptions);
  return { ...options, optimizedModelFilePath, extra: { ...options.extra, ...unpacked } };
}
