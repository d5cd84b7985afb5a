import { readFileSync } from 'node:fs';
import { explainMissing } from '../../base/optional-package.js';
import { packageVersion } from '../package-version.js';
import type { Framework } from '../predictor.js';

function entryPoint(): string {
  try {
    return import.meta.resolve('onnxruntime-web');
  } catch (error) {
    throw explainMissing(error, { feature: 'the framework onnxruntime-web', packages: ['onnxruntime-web'] });
  }
}

/**
 * V8 makes the machine code of the kernels, so V8's version is part of the framework's version, as build metadata of
 * semantic versioning: 1.30.0+v8.11.3.
 *
 * @throws PlatformError `unsupported` where the package is not installed
 */
export function onnxRuntimeWebFramework(): Framework {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', entryPoint()), 'utf8'));
  // 11.3 of V8's 11.3.244.8-node.35; patches change no latency.
  const engine = /^\d+\.\d+/.exec(process.versions.v8)?.[0] ?? process.versions.v8;
  return { name: 'onnxruntime-web', version: `${packageVersion('onnxruntime-web', manifest)}+v8.${engine}` };
}
