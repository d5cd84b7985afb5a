import { createRequire } from 'node:module';
import { packageVersion } from '../package-version.js';
import type { Framework } from '../predictor.js';

export function onnxRuntimeFramework(): Framework {
  const manifest: unknown = createRequire(import.meta.url)('onnxruntime-node/package.json');
  return { name: 'onnxruntime', version: packageVersion('onnxruntime-node', manifest) };
}
