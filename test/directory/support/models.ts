import type { ModelManifest } from '../../../src/generated/carml/org/dlframework/registry.js';
import { offeredModels } from '../../../src/registry/offered-models.js';

const RUNS_ON = { framework: 'onnxruntime', frameworkVersion: '1.30.0', allowVersion: false };

/** Read once: there are more than a hundred manifests. */
let read: ReturnType<typeof offeredModels> | undefined;

/** The models that an agent of the platform offers without a folder of its own. */
export async function platformModels(): Promise<ModelManifest[]> {
  read ??= offeredModels(RUNS_ON, undefined);
  return [...(await read).models];
}
