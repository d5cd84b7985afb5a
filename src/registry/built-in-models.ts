import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ModelManifest as WireModelManifest } from '../generated/carml/org/dlframework/registry.js';
import { loadManifest, meetsFramework, type ModelManifest, orThrow } from '../manifest/index.js';
import { countParameters } from '../zoo/counts.js';
import { buildZooModel, zooEntry } from '../zoo/zoo.js';
import { toWireModelManifest } from './model-manifest-wire.js';

/** The package's own manifests, three folders above dist/src/registry. */
const MODELS_FOLDER = new URL('../../../manifests/models/', import.meta.url);

/** A model that comes with the platform. */
export interface BuiltInModel {
  /** Its name in commands and manifests. */
  readonly reference: string;
  readonly name: string;
  readonly version: string;
  /** Framework and versions that it needs. */
  readonly framework: string;
  readonly parameters: number;
  readonly title: string;
  /** Path of its manifest. */
  readonly manifest: string;
}

/** A manifest that comes with the platform. */
export interface BuiltInManifest {
  readonly path: string;
  readonly manifest: ModelManifest;
}

type InstalledFramework = Parameters<typeof meetsFramework>[1];

/** The manifests of the models that come with the platform, by name. */
export async function builtInManifests(): Promise<readonly BuiltInManifest[]> {
  const files = (await readdir(MODELS_FOLDER, { recursive: true })).filter((file) => file.endsWith('.yml')).sort();
  return Promise.all(
    files.map(async (file) => {
      const path = join(fileURLToPath(MODELS_FOLDER), file);
      return { path, manifest: orThrow(await loadManifest(path, ['model'])).manifest };
    }),
  );
}

/** The models that a framework can open by name, as the platform's contract has them. */
export async function modelsFor(framework: InstalledFramework): Promise<WireModelManifest[]> {
  const fitting = (await builtInManifests()).filter(({ manifest }) => meetsFramework(manifest.framework, framework));
  return fitting.map(({ manifest }) => toWireModelManifest(manifest));
}

/** The models that come with the platform, by name. */
export async function builtInModels(): Promise<readonly BuiltInModel[]> {
  return (await builtInManifests()).map(({ path, manifest }) => {
    const reference = manifest.model.graph_path;
    const zooName = reference.replace(/^zoo:/, '');
    return {
      reference,
      name: manifest.name,
      version: manifest.version,
      framework: `${manifest.framework.name} ${manifest.framework.version}`,
      parameters: countParameters(buildZooModel(zooName)),
      title: zooEntry(zooName).title,
      manifest: path,
    };
  });
}
