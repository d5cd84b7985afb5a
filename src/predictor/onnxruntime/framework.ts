import { createRequire } from 'node:module';
import { packageVersion } from '../package-version.js';
import type { Framework } from '../predictor.js';

/** Folder of the package that a worker process loads. Agents set it, never users. */
export const CHOSEN_PACKAGE = 'MLMODELSCOPE_WORKER_ONNXRUNTIME';

export function onnxRuntimeFramework(folder = 'onnxruntime-node'): Framework {
  const manifest: unknown = createRequire(import.meta.url)(`${folder}/package.json`);
  return { name: 'onnxruntime', version: packageVersion('onnxruntime-node', manifest) };
}
