import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Framework } from '../predictor.js';

const packageSchema = z.object({ version: z.string() });

/** `11.3` of V8's `11.3.244.8-node.35`; patches change no latency. */
function engineVersion(): string {
  return /^\d+\.\d+/.exec(process.versions.v8)?.[0] ?? process.versions.v8;
}

/**
 * ONNX Runtime's WebAssembly build and the version that is installed, found without loading it. V8 makes the machine code
 * of its kernels, so V8's version is part of it, as what semantic versioning calls build metadata: 1.30.0+v8.11.3.
 */
export function onnxRuntimeWebFramework(): Framework {
  // The package exports no package.json; its entry point is dist/ort.node.min.mjs.
  const entryPoint = import.meta.resolve('onnxruntime-web');
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', entryPoint), 'utf8'));
  return { name: 'onnxruntime-web', version: `${packageSchema.parse(manifest).version}+v8.${engineVersion()}` };
}
