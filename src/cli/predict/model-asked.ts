import type { ModelToOpen } from '../../agent/client/prediction-client.js';
import { PlatformError } from '../../base/errors.js';
import { ANY_FRAMEWORK, loadManifest, orThrow } from '../../manifest/index.js';
import { parseModelReference } from '../../manifest/reference.js';

/** A model as the command line names it. */
export interface ModelAsked extends ModelToOpen {
  /** Path of its manifest, where the command line names a manifest. */
  readonly path: string | undefined;
}

const NO_FRAMEWORK = { frameworkName: '', frameworkVersion: '' };

/**
 * The model that `--model` names: a manifest's file, zoo:NAME, or NAME with or without :VERSION.
 *
 * @param allowVersion whether any version of the manifest's framework is accepted
 * @throws PlatformError `usage` for a file without a manifest, `manifest` where the manifest is wrong
 */
export async function modelAsked(text: string, allowVersion: boolean): Promise<ModelAsked> {
  const reference = parseModelReference(text);
  switch (reference?.kind) {
    case 'manifest': {
      const { name, version, framework } = orThrow(await loadManifest(reference.path, ['model'])).manifest;
      const asked =
        framework === ANY_FRAMEWORK
          ? NO_FRAMEWORK
          : { frameworkName: framework.name, frameworkVersion: allowVersion ? '' : framework.version };
      return { modelName: name, modelVersion: version, ...asked, path: reference.path };
    }
    case 'onnx': {
      const advice = 'docs/manifests.md shows one, with the steps from a picture to its classes';
      throw new PlatformError(
        'usage',
        `--model ${text}: predicting needs a model manifest (.yml) beside the file; ${advice}`,
      );
    }
    case 'zoo':
      return { modelName: reference.name, modelVersion: '', ...NO_FRAMEWORK, path: undefined };
    case undefined: {
      const [, name = text, version = ''] = /^(.+):([^:]*)$/.exec(text) ?? [];
      return { modelName: name, modelVersion: version, ...NO_FRAMEWORK, path: undefined };
    }
  }
}
