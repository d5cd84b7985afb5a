import { createRequire } from 'node:module';
import { z } from 'zod';
import type { Framework } from '../predictor.js';

const packageSchema = z.object({ version: z.string() });

/** ONNX Runtime and the version that is installed, found without loading its native library. */
export function onnxRuntimeFramework(): Framework {
  const manifest: unknown = createRequire(import.meta.url)('onnxruntime-node/package.json');
  return { name: 'onnxruntime', version: packageSchema.parse(manifest).version };
}
