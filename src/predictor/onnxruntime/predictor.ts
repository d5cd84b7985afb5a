import { join } from 'node:path';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { PlatformError } from '../../errors.js';
import type { RunOptions } from '../../measurement/system.js';
import type { ModelSource, OpenModel, PreparedRun, Predictor } from '../predictor.js';
import { elementsOf, type TensorValue } from '../tensor-value.js';
import { onnxRuntimeFramework } from './framework.js';

/** Only errors: the runtime's warnings are about models, and nobody reads a measuring process's standard error. */
const LOG_SEVERITY_ERROR = 3;

/** Element types that the runtime's JavaScript interface passes in and out. Source: onnxruntime-common, tensor.d.ts. */
const FEEDABLE = new Set<string>(
  'float32 uint8 int8 uint16 int16 int32 int64 bool float16 float64 uint32 uint64 uint4 int4'.split(' '),
);

function tensorOf(name: string, value: TensorValue): Tensor {
  if (!FEEDABLE.has(value.elementType)) {
    throw new PlatformError('unsupported', `input ${name}: the runtime takes no ${value.elementType} from JavaScript`);
  }
  return new Tensor(value.elementType as 'float32', elementsOf(value) as Float32Array, value.dims);
}

function valueOf(tensor: Tensor): TensorValue {
  const { type, dims, data } = tensor;
  // Strings come as a plain array.
  if (Array.isArray(data)) return { elementType: type, dims, bytes: new Uint8Array() };
  return {
    elementType: type,
    dims,
    bytes: new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength),
  };
}

function prepare(session: InferenceSession, values: ReadonlyMap<string, TensorValue>): PreparedRun {
  const feeds = Object.fromEntries([...values].map(([name, value]) => [name, tensorOf(name, value)]));
  // The binding cannot return sequences, maps and optionals: asking for them fails the run.
  const fetches = session.outputMetadata.filter(({ isTensor }) => isTensor).map(({ name }) => name);
  return {
    async execute() {
      await session.run(feeds, fetches);
    },
    async evaluate() {
      const results = await session.run(feeds, fetches);
      return new Map(Object.entries(results).map(([name, tensor]) => [name, valueOf(tensor)]));
    },
  };
}

function sessionOptionsOf(runOptions: RunOptions): InferenceSession.SessionOptions {
  return {
    intraOpNumThreads: runOptions.threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: runOptions.optimizationLevel,
    executionProviders: [runOptions.executionProvider],
    logSeverityLevel: LOG_SEVERITY_ERROR,
  };
}

function createSession(model: ModelSource, options: InferenceSession.SessionOptions): Promise<InferenceSession> {
  return model.kind === 'bytes'
    ? InferenceSession.create(model.bytes, options)
    : InferenceSession.create(model.path, options);
}

async function open(model: ModelSource, runOptions: RunOptions): Promise<OpenModel> {
  const session = await createSession(model, sessionOptionsOf(runOptions));
  return {
    prepare: (feeds) => prepare(session, feeds),
    close: () => session.release(),
  };
}

const OPTIMIZED_MODEL = 'optimized.onnx';

/** Weights larger than this go into a file of their own, so that no model outgrows protobuf's 2 GB. */
const EXTERNAL_FROM_BYTES = '1024';

/** Keys: onnxruntime_session_options_config_keys.h of ONNX Runtime. */
const EXTERNAL_WEIGHTS = {
  session: {
    optimized_model_external_initializers_file_name: 'optimized.bin',
    optimized_model_external_initializers_min_size_in_bytes: EXTERNAL_FROM_BYTES,
  },
};

async function optimize(model: ModelSource, runOptions: RunOptions, folder: string): Promise<string> {
  const optimizedModelFilePath = join(folder, OPTIMIZED_MODEL);
  const options = { ...sessionOptionsOf(runOptions), optimizedModelFilePath, extra: EXTERNAL_WEIGHTS };
  const session = await createSession(model, options);
  await session.release();
  return optimizedModelFilePath;
}

/** ONNX Runtime through onnxruntime-node. Its `run` blocks the thread. */
export function onnxRuntimePredictor(): Predictor {
  return { framework: onnxRuntimeFramework(), open, optimize };
}
