import type { ModelManifest as WireModelManifest } from '../generated/carml/org/dlframework/registry.js';
import { loadManifest } from '../manifest/load.js';
import { meetsFramework, unmetByModel } from '../manifest/requirements.js';
import type { ModelManifest } from '../manifest/model.js';
import { resolveModel } from '../manifest/resolve-model.js';
import { builtInManifests } from './built-in-models.js';
import { type RunningFramework, zooNames } from './load-model.js';
import { problemsLine, readFolder } from './model-folder.js';
import { toWireModelManifest } from './model-manifest-wire.js';

export interface OfferedModels {
  readonly models: readonly WireModelManifest[];
  /** One line for each. */
  readonly leftOut: readonly string[];
}

async function openable(path: string, runsOn: RunningFramework): Promise<ModelManifest | string> {
  const loaded = await loadManifest(path, ['model']);
  if (!loaded.ok) return problemsLine(loaded.problems);
  const { manifest } = loaded;
  const unmet = unmetByModel(manifest.name, manifest.framework, runsOn, runsOn.allowVersion);
  if (unmet !== undefined) return `${path}: ${unmet.problem}`;
  const resolved = await resolveModel(path, { zooNames });
  return resolved.ok ? manifest : problemsLine(resolved.problems);
}

/** Those of a folder, and those that come with the platform. @throws PlatformError `usage` for an unreadable folder */
export async function offeredModels(runsOn: RunningFramework, folder: string | undefined): Promise<OfferedModels> {
  const found = folder === undefined ? undefined : await readFolder(folder, (path) => openable(path, runsOn));
  const own = found?.read ?? [];
  const builtIn = (await builtInManifests()).map(({ manifest }) => manifest);
  const fitting = builtIn.filter(({ framework }) => meetsFramework(framework, runsOn, runsOn.allowVersion));
  const manifests = [...own.filter((one) => typeof one !== 'string'), ...fitting];
  return {
    models: manifests.map((manifest) => toWireModelManifest(manifest, runsOn)),
    leftOut: [
      ...own.filter((one) => typeof one === 'string'),
      ...(found?.notRead === undefined ? [] : [found.notRead]),
    ],
  };
}
