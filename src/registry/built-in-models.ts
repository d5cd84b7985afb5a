import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { frameworkText, loadManifest, type ModelManifest, orThrow } from '../manifest/index.js';
import { countParameters } from '../zoo/counts.js';
import { buildZooModel, zooEntry } from '../zoo/zoo.js';

/** The package is three folders above dist/src/registry. */
const MODELS_FOLDER = new URL('../../../manifests/models/', import.meta.url);

export const builtInModelSchema = z.strictObject({
  reference: z.string().describe('Its name in commands and manifests'),
  name: z.string(),
  version: z.string(),
  framework: z.string().describe('Framework and versions that it needs'),
  parameters: z.int().min(0),
  task: z.string().nullable().describe('As in its manifest'),
  title: z.string(),
  manifest: z.string().describe('Path of its manifest'),
});

export type BuiltInModel = Readonly<z.infer<typeof builtInModelSchema>>;

export interface BuiltInManifest {
  readonly path: string;
  readonly manifest: ModelManifest;
}

export async function builtInManifests(): Promise<readonly BuiltInManifest[]> {
  const files = (await readdir(MODELS_FOLDER, { recursive: true })).filter((file) => file.endsWith('.yml')).sort();
  return Promise.all(
    files.map(async (file) => {
      const path = join(fileURLToPath(MODELS_FOLDER), file);
      return { path, manifest: orThrow(await loadManifest(path, ['model'])).manifest };
    }),
  );
}

export async function builtInModels(): Promise<readonly BuiltInModel[]> {
  return (await builtInManifests()).map(({ path, manifest }) => {
    const { graph_path: reference = '' } = manifest.model;
    const zooName = reference.replace(/^zoo:/, '');
    return {
      reference,
      name: manifest.name,
      version: manifest.version,
      framework: frameworkText(manifest.framework),
      parameters: countParameters(buildZooModel(zooName)),
      task: manifest.task ?? null,
      title: zooEntry(zooName).title,
      manifest: path,
    };
  });
}
