import { join } from 'node:path';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import type { RunOptions } from '../../measurement/system.js';
import { type ModelSource, type OpenModel, type Predictor, PROTOBUF_LIMIT_BYTES } from '../predictor.js';
import { optimizingOptionsOf, prepareRun, sessionOptionsOf } from '../session-run.js';
import { onnxRuntimeFramework } from './framework.js';

function createSession(model: ModelSource, options: InferenceSession.SessionOptions): Promise<InferenceSession> {
  return model.kind === 'bytes'
    ? InferenceSession.create(model.bytes, options)
    : InferenceSession.create(model.path, options);
}

async function open(model: ModelSource, runOptions: RunOptions): Promise<OpenModel> {
  const session = await createSession(model, sessionOptionsOf(runOptions));
  return {
    prepare: (feeds) => prepareRun(Tensor, session, feeds),
    close: () => session.release(),
  };
}

async function optimize(model: ModelSource, runOptions: RunOptions, folder: string): Promise<string> {
  const path = join(folder, 'optimized.onnx');
  const session = await createSession(model, optimizingOptionsOf(runOptions, path));
  await session.release();
  return path;
}

/** ONNX Runtime through onnxruntime-node. Its `run` blocks the thread. */
export function onnxRuntimePredictor(): Predictor {
  return { framework: onnxRuntimeFramework(), inlineLimitBytes: PROTOBUF_LIMIT_BYTES, open, optimize };
}
