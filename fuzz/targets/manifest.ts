import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dump, load } from 'js-yaml';
import { loadManifest, manifestError, orThrow, resolveEvaluation } from '../../src/manifest/index.js';
import { mutateBytes } from '../mutate/bytes.js';
import { mutateValue } from '../mutate/document.js';
import { mutateText } from '../mutate/text.js';
import type { Random } from '../random.js';
import { readOrRefused, type Target } from './target.js';

const MANIFESTS = join(import.meta.dirname, '../../../manifests');

/** A manifest as the platform had them before this project. */
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

/** Characters of a block document. Each line of what is nested deeply begins with as many spaces. */
const MOST_LENGTH = 4_000_000;

/** The manifest's values with one change, in the notation of JSON, which YAML takes as well. */
function mutateStructure(text: string, random: Random): string {
  let content: unknown;
  try {
    content = load(text);
  } catch {
    return mutateText(text, random);
  }
  const changed = mutateValue(content ?? null, random);
  try {
    // Blocks are read in another way than what is in brackets.
    return random.oneIn(2) ? dump(JSON.parse(changed), { lineWidth: -1 }).slice(0, MOST_LENGTH) : changed;
  } catch {
    return changed;
  }
}

/** The manifest, and what it refers to where that is something. */
async function readWhole(path: string): Promise<void> {
  const { manifest: read } = orThrow(await loadManifest(path));
  if (read.dlspec !== 'evaluation/v1') return;
  const resolved = await resolveEvaluation(path);
  if (!resolved.ok) throw manifestError(resolved.problems);
}

/** Manifests of all kinds, and evaluations with what they refer to. */
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
    // Beside manifests that evaluations refer to.
    await cp(MANIFESTS, folder, { recursive: true, force: false });
    const path = join(folder, 'evaluations', 'manifest.yml');
    await writeFile(path, input);
    return readOrRefused(() => readWhole(path), path);
  },
};
