import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { kindOfManifest, loadManifest, takenBy } from '../../src/manifest/load.js';
import { formatProblem } from '../../src/manifest/problem.js';
import { folderWith } from './folder.js';

test('the kind of a manifest is the one that it states, and older ones are models', async (t) => {
  const folder = await folderWith(t, {
    'evaluation.yml': 'dlspec: evaluation/v1\n',
    'older.yml': 'name: net\ninputs: [{ type: image }]\nmodel: { graph_path: net.onnx }\n',
    'unknown.yml': 'dlspec: recipe/v1\n',
    'list.yml': '[dlspec]\n',
    'broken.yml': 'dlspec: [\n',
  });
  const kinds = ['evaluation', 'older', 'unknown', 'list', 'broken', 'missing'].map((name) =>
    kindOfManifest(join(folder, `${name}.yml`)),
  );
  assert.deepEqual(await Promise.all(kinds), ['evaluation', 'model', undefined, undefined, undefined, undefined]);
});

test('a manifest of another kind is refused with the commands that take it', async (t) => {
  const folder = await folderWith(t, {
    'm.yml': 'dlspec: evaluation/v1\n',
    'list.yml': '- a\n',
    'broken.yml': 'dlspec: [\n',
  });
  const problems = async (name: string): Promise<readonly string[]> => {
    const loaded = await loadManifest(join(folder, name), ['model', 'dataset']);
    return loaded.ok ? [] : loaded.problems.map((problem) => formatProblem({ ...problem, file: name }));
  };
  assert.deepEqual(await problems('m.yml'), [
    'm.yml:1:9: dlspec: expected "model/v1" or "dataset/v1", found "evaluation/v1" ' +
      '(`mlmodelscope dlbricks run` and `mlmodelscope evaluate` take evaluations)',
  ]);
  assert.deepEqual(await problems('list.yml'), ['list.yml:1:1: document: expected a mapping, found a list of 1']);
  assert.match((await problems('broken.yml')).join(), /^broken\.yml:2:1: document: expected /);
  assert.deepEqual(await problems('missing.yml'), [
    'missing.yml:1:1: document: expected a manifest file, found no such file',
  ]);
});

test('a message says which commands take a kind, or which key refers to it', () => {
  assert.match(takenBy('model'), /take models\)$/);
  for (const kind of ['hardware', 'software', 'dataset'] as const) {
    assert.equal(takenBy(kind), ` (evaluation manifests refer to it by their key \`${kind}\`)`);
  }
  assert.equal(takenBy(undefined), '');
});
