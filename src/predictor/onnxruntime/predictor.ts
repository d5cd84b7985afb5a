import { existsSync } from 'node:fs';
import { readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { InferenceSession as Session } from 'onnxruntime-node';
import { AS_IT_IS } from '../../measurement/as-it-is.js';
import type { RunOptions } from '../../measurement/system.js';
import {
  type ModelSource,
  type OpenModel,
  type OptimizeOptions,
  type Predictor,
  type ProfiledModel,
  PROTOBUF_LIMIT_BYTES,
} from '../predictor.js';
import type { TensorType } from '../../onnx/model/model.js';
import {
  OPTIMIZED_WEIGHTS,
  buildOptimizingOptions,
  prepareRun,
  buildSessionOptions,
  staticTypesIn,
} from '../session-run.js';
import { CHOSEN_PACKAGE, onnxRuntimeFramework } from './framework.js';
import { InferenceSession, Tensor } from './library.js';

/** Source: onnxruntime_session_options_config_keys.h of ONNX Runtime. */
const WEIGHTS_FOLDER = 'session.model_external_initializers_file_folder_path';

function createSession(model: ModelSource, options: Session.SessionOptions): Promise<InferenceSession> {
  if (model.kind === 'file') return InferenceSession.create(model.path, options);
  const { bytes, weightsFolder } = model;
  const folder = weightsFolder === undefined ? {} : { [WEIGHTS_FOLDER]: weightsFolder };
  return InferenceSession.create(bytes, { ...options, extra: { ...options.extra, ...folder } });
}

async function open(model: ModelSource, runOptions: RunOptions): Promise<OpenModel> {
  const session = await createSession(model, buildSessionOptions(runOptions));
  return {
    prepare: (feeds) => prepareRun(Tensor, session, feeds),
    close: () => session.release(),
  };
}

async function openProfiled(model: ModelSource, runOptions: RunOptions, folder: string): Promise<ProfiledModel> {
  const profileFilePrefix = join(folder, 'profile');
  const options = { ...buildSessionOptions(runOptions), enableProfiling: true, profileFilePrefix };
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
      const [file] = (await readdir(folder)).filter((name) => name.startsWith('profile') && name.endsWith('.json'));
      if (file === undefined) return [];
      // Not every process reads a profile, and its schemas take time to load.
      const { readProfile } = await import('./read-profile.js');
      return readProfile(join(folder, file));
    },
    async close() {
      end();
      await session.release();
    },
  };
}

const NOWHERE = '/dev/null';

async function optimize(
  model: ModelSource,
  runOptions: RunOptions,
  folder: string,
  options: OptimizeOptions,
): Promise<string> {
  const path = join(folder, 'optimized.onnx');
  if (!options.keepsWeights && existsSync(NOWHERE)) await symlink(NOWHERE, join(folder, OPTIMIZED_WEIGHTS));
  const session = await createSession(model, buildOptimizingOptions(runOptions, path, options));
  await session.release();
  return path;
}

async function inferStaticTypes(model: Uint8Array): Promise<ReadonlyMap<string, TensorType>> {
  // Without any fusion or folding, every value exists.
  const session = await createSession({ kind: 'bytes', bytes: model }, buildSessionOptions(AS_IT_IS));
  try {
    return staticTypesIn(session.outputMetadata);
  } finally {
    await session.release();
  }
}

export function onnxRuntimePredictor(): Predictor {
  return {
    framework: onnxRuntimeFramework(process.env[CHOSEN_PACKAGE]),
    inlineLimitBytes: PROTOBUF_LIMIT_BYTES,
    mapsWeightFiles: true,
    open,
    openProfiled,
    inferStaticTypes,
    optimize,
  };
}
