import type { ModelManifest } from '../../../src/generated/carml/org/dlframework/registry.js';
import { offeredModels } from '../../../src/registry/offered-models.js';

/** The models that an agent of the platform offers without a folder of its own. */
export async function platformModels(): Promise<ModelManifest[]> {
  const runsOn = { framework: 'onnxruntime', frameworkVersion: '1.30.0', allowVersion: false };
  return [...(await offeredModels(runsOn, undefined)).models];
}
