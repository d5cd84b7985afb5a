import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dump, load } from 'js-yaml';
import { loadManifest } from '../../src/manifest/load.js';
import { manifestError, orThrow } from '../../src/manifest/problem.js';
import { resolveEvaluation } from '../../src/manifest/resolve-evaluation.js';
import { mutateBytes } from '../mutate/bytes.js';
import { mutateValue } from '../mutate/document.js';
import { mutateText } from '../mutate/text.js';
import type { Random } from '../random.js';
import { readOrRefused, type Target } from './target.js';

const MANIFESTS = join(import.meta.dirname, '../../../manifests');

/** A manifest in the format of the platform before this project. */
const OLDER = `name: Some_Net
framework: { name: Onnxruntime, version: 1.x }
version: 1.10
description: >
  A network.
inputs:
  - type: image
    parameters: { element_type: float32, input_layer: 0, layout: CHW, dimensions: [3, 224, 224], mean: [123.675, 116.28, 103.53] }
output: { type: classification, parameters: { element_type: float32, probabilities_layer: probs } }
model: { graph_path: net.onnx, is_archive: false }
`;

/** Maximum length of a document in block style, in characters. Deep nesting indents each line by many spaces. */
const MAX_LENGTH = 4_000_000;

/** The manifest's values with one change, in block style or in the notation of JSON, which is also YAML. */
function mutateStructure(text: string, random: Random): string {
  let content: unknown;
  try {
    content = load(text);
  } catch {
    return mutateText(text, random);
  }
  const changed = mutateValue(content ?? null, random);
  try {
    // Readers parse block style differently from the style with brackets.
    return random.oneIn(2) ? dump(JSON.parse(changed), { lineWidth: -1 }).slice(0, MAX_LENGTH) : changed;
  } catch {
    return changed;
  }
}

/** Reads the manifest and, for an evaluation, the manifests that it refers to. */
async function readWhole(path: string): Promise<void> {
  const { manifest: read } = orThrow(await loadManifest(path));
  if (read.dlspec !== 'evaluation/v1') return;
  const resolved = await resolveEvaluation(path);
  if (!resolved.ok) throw manifestError(resolved.problems);
}

/** Manifests of all kinds, and evaluations with the manifests that they refer to. */
export const manifest: Target = {
  name: 'manifest',
  async seeds() {
    const names = (await readdir(MANIFESTS, { recursive: true })).filter((name) => name.endsWith('.yml')).sort();
    const texts = await Promise.all(names.map((name) => readFile(join(MANIFESTS, name))));
    return [Buffer.from(OLDER), ...texts];
  },
  mutate(input, random) {
    if (random.oneIn(10)) return mutateBytes(input, random);
    const text = Buffer.from(input).toString();
    return Buffer.from(random.oneIn(2) ? mutateText(text, random) : mutateStructure(text, random));
  },
  async check(input, folder) {
    // The file is placed beside the manifests that evaluations refer to.
    await cp(MANIFESTS, folder, { recursive: true, force: false });
    const path = join(folder, 'evaluations', 'manifest.yml');
    await writeFile(path, input);
    return readOrRefused(() => readWhole(path), path);
  },
};
