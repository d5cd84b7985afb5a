import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { InferenceSession } from 'onnxruntime-web';
import { messageOf, PlatformError } from '../../base/errors.js';
import type { RunOptions } from '../../measurement/system.js';
import type { ModelSource, OpenModel, OptimizeOptions, Predictor } from '../predictor.js';
import { buildOptimizingOptions, prepareRun, buildSessionOptions } from '../session-run.js';
import { onnxRuntimeWebFramework } from './framework.js';
import { explained } from './explained.js';
import { type Library, libraryThatWrites, libraryWithThreads } from './library.js';
import { readWeightFiles } from './weight-files.js';
import { whileWritingTo } from './writing-runtime.js';
import { WrittenFiles } from './written-files.js';

/**
 * Opening a model from memory takes three times its size of the runtime's 4 GB; weights in files take their own size.
 */
const INLINE_LIMIT_BYTES = 2 ** 30;

async function createSession(
  { InferenceSession }: Library,
  model: ModelSource,
  options: InferenceSession.SessionOptions,
): Promise<InferenceSession> {
  try {
    if (model.kind === 'bytes') return await InferenceSession.create(model.bytes, options);
    const bytes = new Uint8Array(await readFile(model.path));
    return await InferenceSession.create(bytes, { ...options, externalData: await readWeightFiles(bytes, model.path) });
  } catch (error) {
    throw explained(error);
  }
}

async function open(model: ModelSource, runOptions: RunOptions): Promise<OpenModel> {
  if (runOptions.executionMode === 'parallel') {
    const { name } = onnxRuntimeWebFramework();
    throw new PlatformError('unsupported', `${name} runs kernels one after another; leave out execution mode parallel`);
  }
  const library = await libraryWithThreads(runOptions.threads);
  const session = await createSession(library, model, buildSessionOptions(runOptions));
  return {
    prepare(feeds) {
      const run = prepareRun(library.Tensor, session, feeds);
      const explain = (error: unknown): never => {
        throw explained(error);
      };
      return { execute: () => run.execute().catch(explain), evaluate: () => run.evaluate().catch(explain) };
    },
    close: () => session.release(),
  };
}

function notHandedOut(why: string): PlatformError {
  const { name, version } = onnxRuntimeWebFramework();
  return new PlatformError('unsupported', `${name} ${version} ${why}; cut the graph at its layers, with --cut layer`);
}

async function optimize(
  model: ModelSource,
  runOptions: RunOptions,
  folder: string,
  options: OptimizeOptions,
): Promise<string> {
  // To save weights from a file, the runtime would read that file again, and it has no file system.
  if (model.kind === 'file') {
    const limit = `${INLINE_LIMIT_BYTES / 2 ** 30} GiB`;
    throw notHandedOut(`saves optimized graphs only of models up to ${limit}, weights included`);
  }
  const library = await libraryThatWrites();
  const written = new WrittenFiles(folder);
  const name = 'optimized.onnx';
  const saving = whileWritingTo(written, async () => {
    const session = await createSession(library, model, buildOptimizingOptions(runOptions, name, options));
    await session.release();
  });
  // The runtime continues after a failed write, or fails without the reason.
  await saving.finally(() => {
    if (written.failure === undefined) return;
    const problem = `the optimized graph cannot be written to ${folder}: ${messageOf(written.failure)}`;
    throw new PlatformError('storage', `${problem}; free space there or set TMPDIR to another folder`);
  });
  const path = join(folder, name);
  if (existsSync(path)) return path;
  throw notHandedOut('does not save its optimized graph as expected');
}

export function onnxRuntimeWebPredictor(): Predictor {
  return {
    framework: onnxRuntimeWebFramework(),
    inlineLimitBytes: INLINE_LIMIT_BYTES,
    mapsWeightFiles: false,
    open,
    optimize,
  };
}
