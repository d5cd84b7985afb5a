import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import semver from 'semver';
import { messageOf, PlatformError } from '../base/errors.js';
import { loadManifest, orThrow } from '../manifest/index.js';
import { isManifestPath } from '../manifest/reference.js';
import { builtInManifests } from './built-in-models.js';
import { loadPredictionModel, type PredictionModel } from './prediction-model.js';

const MAX_MANIFESTS = 10_000;

interface Offered {
  readonly path: string;
  readonly name: string;
  readonly version: string;
}

/**
 * The model manifests in a folder, by the names of their files.
 *
 * @throws PlatformError `manifest` with the problems of all that are wrong, `usage` where there is no such folder
 */
async function manifestsIn(folder: string): Promise<readonly Offered[]> {
  const entries = await readdir(folder).catch((cause: unknown) => {
    throw new PlatformError('usage', `the folder of model manifests cannot be read: ${messageOf(cause)}`, { cause });
  });
  const paths = entries.filter(isManifestPath).sort().slice(0, MAX_MANIFESTS);
  return Promise.all(
    paths.map(async (file) => {
      const path = join(folder, file);
      const { name, version } = orThrow(await loadManifest(path, ['model'])).manifest;
      return { path, name, version };
    }),
  );
}

/**
 * A model by the name and version of its manifest: one of the folder's, or one that comes with the platform.
 *
 * @param version a version or a range as npm has it; '' takes any
 * @param folder of further model manifests, which go before those of the platform
 * @throws PlatformError `not_found` with the names and versions there are, and as `loadPredictionModel`
 */
export async function resolvePredictionModel(name: string, version: string, folder?: string): Promise<PredictionModel> {
  const builtIn = (await builtInManifests()).map(({ path, manifest }): Offered => {
    return { path, name: manifest.name, version: manifest.version };
  });
  const models = [...(folder === undefined ? [] : await manifestsIn(folder)), ...builtIn];
  const named = models.filter((model) => model.name === name);
  const fitting = named.find((model) => version === '' || semver.satisfies(model.version, version));
  if (fitting !== undefined) return loadPredictionModel(fitting.path);
  const known = (named.length > 0 ? named : models).slice(0, 100).map((model) => `${model.name} ${model.version}`);
  throw new PlatformError('not_found', `no model ${name} ${version}`.trimEnd() + `; there are ${known.join(', ')}`);
}
