import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import type { RunOptions } from '../../measurement/system.js';
import {
  type ModelSource,
  type OpenModel,
  type Predictor,
  type ProfiledModel,
  PROTOBUF_LIMIT_BYTES,
} from '../predictor.js';
import { optimizingOptionsOf, prepareRun, sessionOptionsOf } from '../session-run.js';
import { onnxRuntimeFramework } from './framework.js';
import { readProfile } from './read-profile.js';

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

async function openProfiled(model: ModelSource, runOptions: RunOptions, folder: string): Promise<ProfiledModel> {
  const profileFilePrefix = join(folder, 'profile');
  const options = { ...sessionOptionsOf(runOptions), enableProfiling: true, profileFilePrefix };
  const session = await createSession(model, options);
  let ended = false;
  const end = (): void => {
    if (!ended) session.endProfiling();
    ended = true;
  };
  return {
    prepare: (feeds) => prepareRun(Tensor, session, feeds),
    async profile() {
      end();
      // The runtime adds the time to the name.
      const [file] = (await readdir(folder)).filter((name) => name.startsWith('profile') && name.endsWith('.json'));
      return file === undefined ? [] : readProfile(join(folder, file));
    },
    async close() {
      end();
      await session.release();
    },
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
  return { framework: onnxRuntimeFramework(), inlineLimitBytes: PROTOBUF_LIMIT_BYTES, open, openProfiled, optimize };
}
