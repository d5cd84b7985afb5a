import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { graphBindings } from '../../src/manifest/graph-bindings.js';
import { orThrow } from '../../src/manifest/problem.js';
import { resolveEvaluation } from '../../src/manifest/resolve-evaluation.js';
import { parseDocument } from '../../src/manifest/document.js';
import { shippedManifest } from '../../src/manifest/shipped-manifest.js';
import { interpretDocument, MANIFEST_KINDS, loadManifest } from '../../src/manifest/load.js';
import { zooNames } from '../../src/registry/load-model.js';
import { buildZooModel, ZOO } from '../../src/zoo/zoo.js';

const ROOT = join(import.meta.dirname, '../../..');
const MANIFESTS = join(ROOT, 'manifests');

function manifestFiles(folder = ''): readonly string[] {
  return readdirSync(join(MANIFESTS, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.yml'))
    .map((path) => join(folder, path));
}

for (const path of manifestFiles()) {
  test(`manifests/${path} loads`, async () => {
    orThrow(await loadManifest(join(MANIFESTS, path)));
  });
}

test('a manifest of the package is found from every folder, and nothing else of it', () => {
  const before = process.cwd();
  process.chdir('/');
  try {
    assert.equal(shippedManifest('manifests/hardware/any.yml'), join(MANIFESTS, 'hardware/any.yml'));
    for (const path of [
      'manifests/none.yml',
      'manifests/../package.yml',
      'x/manifests/hardware/any.yml',
      'package.json',
    ])
      assert.equal(shippedManifest(path), path);
  } finally {
    process.chdir(before);
  }
});

for (const path of manifestFiles('evaluations')) {
  test(`everything that manifests/${path} refers to loads`, async () => {
    orThrow(await resolveEvaluation(join(MANIFESTS, path), { zooNames }));
  });
}

for (const path of manifestFiles('models')) {
  test(`manifests/${path} is named as its file and describes the zoo's graph of that name`, async () => {
    const { manifest } = orThrow(await loadManifest(join(MANIFESTS, path), ['model']));
    assert.equal(basename(path), `${manifest.name}.yml`);
    assert.equal(manifest.model.graph_path, `zoo:${manifest.name}`);
    const model = buildZooModel(manifest.name);
    graphBindings(manifest, model, 1);
    assert.equal(manifest.inputs.length, model.graph.inputs.length);
    assert.equal(manifest.outputs.length, model.graph.outputs.length);
  });
}

test('every architecture of the zoo has a manifest', () => {
  const names = manifestFiles('models').map((path) => basename(path, '.yml'));
  assert.deepEqual(names.toSorted(), ZOO.map(({ name }) => name).toSorted());
});

const EXAMPLES = readFileSync(join(ROOT, 'docs/manifests.md'), 'utf8').matchAll(/```yaml\n([\s\S]*?)```/g);

for (const [i, [, yaml]] of [...EXAMPLES].entries()) {
  test(`example ${i + 1} of docs/manifests.md loads`, () => {
    const document = parseDocument('docs/manifests.md', Buffer.from(yaml ?? ''));
    orThrow(document.ok ? interpretDocument(document, MANIFEST_KINDS) : document);
  });
}
