import semver from 'semver';
import { counted } from '../base/counted.js';
import { PlatformError } from '../base/errors.js';
import { isAny, isLatest, isSameName, isWithin } from '../base/platform-name.js';
import { suggestion } from '../base/suggestion.js';
import { loadManifest } from '../manifest/load.js';
import { meetsFramework } from '../manifest/requirements.js';
import { type BuiltInManifest, builtInManifests } from './built-in-models.js';
import { requireFramework, type RunningFramework } from './load-model.js';
import { readFolder } from './model-folder.js';
import { loadPredictionModel, type PredictionModel } from './prediction-model.js';

/** Most models that a message names. */
const MAX_NAMED = 20;

export interface ResolvePredictionOptions {
  /** Its manifests come before those of the platform. */
  readonly folder?: string | undefined;
  readonly runsOn: RunningFramework;
}

async function manifestsIn(folder: string) {
  const { read } = await readFolder(folder, async (path) => ({ path, result: await loadManifest(path, ['model']) }));
  const offered = read.flatMap(({ path, result }): BuiltInManifest[] => {
    return result.ok ? [{ path, manifest: result.manifest }] : [];
  });
  return { offered, unreadable: read.length - offered.length };
}

/** The newest first for `latest`. */
function inVersion(named: readonly BuiltInManifest[], version: string): readonly BuiltInManifest[] {
  if (isAny(version)) return named;
  if (isLatest(version)) {
    return named.toSorted((a, b) => semver.compare(b.manifest.version, a.manifest.version));
  }
  return named.filter(({ manifest }) => isWithin(manifest.version, version));
}

function listed(models: readonly BuiltInManifest[]): string {
  const names = models.slice(0, MAX_NAMED).map(({ manifest }) => `${manifest.name} ${manifest.version}`);
  const more = models.length - names.length;
  return names.join(', ') + (more === 0 ? '' : ` and ${more} more`);
}

/** A similar name, and where all names are. */
function adviceOn(name: string, own: readonly BuiltInManifest[], models: readonly BuiltInManifest[]): string {
  const meant = suggestion(
    name,
    models.map(({ manifest }) => manifest.name),
  );
  const similar = meant === undefined ? '' : `did you mean ${meant}? `;
  const ofFolder = own.length === 0 ? '' : `; its folder has ${listed(own)}`;
  return `${similar}'mlmodelscope registry models' lists the models of the platform${ofFolder}`;
}

/**
 * Where several fit, the first one that the framework runs is loaded. Names are compared as the platform does.
 *
 * @param version a version, a range as in npm, or `latest`; '' and `*` accept any
 * @throws PlatformError `not_found` with the known versions or a similar name, `unsupported` where a model asks for another
 *   framework, and as `loadPredictionModel`
 */
export async function resolvePredictionModel(
  name: string,
  version: string,
  { folder, runsOn }: ResolvePredictionOptions,
): Promise<PredictionModel> {
  const own = folder === undefined ? { offered: [], unreadable: 0 } : await manifestsIn(folder);
  const models: readonly BuiltInManifest[] = [...own.offered, ...(await builtInManifests())];
  const named = models.filter(({ manifest }) => isSameName(manifest.name, name));
  const fitting = inVersion(named, version);
  const running = fitting.filter(({ manifest }) => meetsFramework(manifest.framework, runsOn, runsOn.allowVersion));
  const [chosen = fitting[0]] = running;
  if (chosen !== undefined) {
    requireFramework(chosen.manifest, runsOn);
    return loadPredictionModel(chosen.path);
  }
  const unreadable =
    own.unreadable === 0
      ? ''
      : `; ${counted(own.unreadable, 'manifest of its folder has', 'manifests of its folder have')} problems`;
  const problem = `no model ${name} ${version}`.trimEnd();
  const advice = named.length > 0 ? `there are ${listed(named)}` : adviceOn(name, own.offered, models);
  throw new PlatformError('not_found', `${problem}; ${advice}${unreadable}`);
}
