import type { ModelToOpen } from '../../agent/client/prediction-client.js';
import { PlatformError } from '../../base/errors.js';
import { isSameName } from '../../base/platform-name.js';
import { ANY_FRAMEWORK } from '../../manifest/fields.js';
import { identifyManifest, type ManifestIdentity } from '../../manifest/identity.js';
import { loadManifest } from '../../manifest/load.js';
import { orThrow } from '../../manifest/problem.js';
import { parseModelReference, ZOO_PREFIX } from '../../manifest/reference.js';
import { resolveReference, zooNames } from '../../registry/load-model.js';
import { MADE_UP } from '../../registry/made-up-weights.js';

export interface ModelAsked extends ModelToOpen {
  readonly path: string | undefined;
  /** Which manifest it is of; undefined for a model that the agent has. */
  readonly identity?: ManifestIdentity;
  /** undefined where only the agent knows. */
  readonly weights?: 'own' | 'made_up';
  readonly source?: 'file' | 'zoo';
  readonly warning: string | undefined;
}

const REMEDY = 'name the manifest of a model whose file has real weights (docs/manifests.md)';

const NO_FRAMEWORK = { frameworkName: '', frameworkVersion: '' };

/**
 * @throws PlatformError `usage` for a file without a manifest and for what the zoo does not have, `manifest` where the
 *   manifest is wrong
 */
export async function modelAsked(text: string, allowVersion: boolean): Promise<ModelAsked> {
  if (text.startsWith(ZOO_PREFIX)) await resolveReference(text);
  const reference = parseModelReference(text);
  switch (reference?.kind) {
    case 'manifest': {
      const { manifest, sha256 } = orThrow(await loadManifest(reference.path, ['model']));
      const { name, version, framework, model } = manifest;
      const isOfZoo = parseModelReference(model.graph_path ?? '')?.kind === 'zoo';
      if (isOfZoo) await resolveReference(reference.path);
      const warning = isOfZoo ? `the weights of ${model.graph_path} ${MADE_UP}; ${REMEDY}` : undefined;
      const asked =
        framework === ANY_FRAMEWORK
          ? NO_FRAMEWORK
          : { frameworkName: framework.name, frameworkVersion: allowVersion ? '' : framework.version };
      const identity = identifyManifest('model', manifest, { sha256 });
      const weights = isOfZoo ? 'made_up' : 'own';
      const from = { path: reference.path, source: isOfZoo ? 'zoo' : 'file' } as const;
      return { modelName: name, modelVersion: version, ...asked, ...from, warning, identity, weights };
    }
    case 'onnx': {
      const advice = 'docs/manifests.md shows one, with the steps from a picture to its classes';
      throw new PlatformError(
        'usage',
        `--model ${text}: predicting needs a model manifest (.yml) beside the file; ${advice}`,
      );
    }
    case 'zoo': {
      const warning = `the weights of ${text} ${MADE_UP}; ${REMEDY}`;
      const ofZoo = { weights: 'made_up', source: 'zoo' } as const;
      return { modelName: reference.name, modelVersion: '', ...NO_FRAMEWORK, path: undefined, warning, ...ofZoo };
    }
    case undefined: {
      const [, name = text, version = ''] = /^(.+):([^:]*)$/.exec(text) ?? [];
      // An agent's own models come before those of the platform.
      const warning = (await zooNames()).some((known) => isSameName(known, name))
        ? `unless the agent has a model ${name} of its own, the weights ${MADE_UP}; ${REMEDY}`
        : undefined;
      return { modelName: name, modelVersion: version, ...NO_FRAMEWORK, path: undefined, warning };
    }
  }
}
