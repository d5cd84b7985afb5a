import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { frameworkText } from '../manifest/fields.js';
import { loadManifest } from '../manifest/load.js';
import type { ModelManifest } from '../manifest/model.js';
import { orThrow } from '../manifest/problem.js';
import { oncePer } from '../base/once-per.js';
import { countParameters } from '../zoo/counts.js';
import type { ZooEntry } from '../zoo/entry.js';
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

async function readManifests(): Promise<readonly BuiltInManifest[]> {
  const files = (await readdir(MODELS_FOLDER, { recursive: true })).filter((file) => file.endsWith('.yml')).sort();
  return Promise.all(
    files.map(async (file) => {
      const path = join(fileURLToPath(MODELS_FOLDER), file);
      return { path, manifest: orThrow(await loadManifest(path, ['model'])).manifest };
    }),
  );
}

let manifests: Promise<readonly BuiltInManifest[]> | undefined;

/** Read once in a process: they come with the package. Reading all of them takes a third of a second. */
export function builtInManifests(): Promise<readonly BuiltInManifest[]> {
  manifests ??= readManifests();
  return manifests;
}

const parametersOf = oncePer((entry: ZooEntry) => ({ parameters: countParameters(buildZooModel(entry.name)) }));

export async function builtInModels(): Promise<readonly BuiltInModel[]> {
  return (await builtInManifests()).map(({ path, manifest }) => {
    const { graph_path: reference = '' } = manifest.model;
    const entry = zooEntry(reference.replace(/^zoo:/, ''));
    return {
      reference,
      name: manifest.name,
      version: manifest.version,
      framework: frameworkText(manifest.framework),
      ...parametersOf(entry),
      task: manifest.task ?? null,
      title: entry.title,
      manifest: path,
    };
  });
}
