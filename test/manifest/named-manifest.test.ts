import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pinManifests } from '../../src/fetch/lock.js';
import { DISK } from '../../src/manifest/files.js';
import { formatProblem, orThrow } from '../../src/manifest/problem.js';
import { referredManifests, resolveEvaluation } from '../../src/manifest/resolve-evaluation.js';
import { folderWith } from './folder.js';

const EVALUATION = `dlspec: evaluation/v1
name: e
version: 1.0.0
models: [net@1.2.0, other@2.0.0]
hardware: any@1.0.0
dataset: data@1.0.0
`;

function model(name: string, version: string): string {
  return `dlspec: model/v1
name: ${name}
version: ${version}
framework: { name: onnxruntime, version: '*' }
inputs: [{ layer_name: x, element_type: float32, dimensions: [batch] }]
outputs: [{ layer_name: y, element_type: float32, dimensions: [batch] }]
model: { graph_path: zoo:resnet18 }
`;
}

const FILES = {
  'evaluations/e.yml': EVALUATION,
  'models/net.yml': model('net', '1.2.0'),
  'evaluations/models/other@2.0.0.yml': model('other', '2.0.0'),
  'evaluations/any.yml': 'dlspec: hardware/v1\nname: any\nversion: 1.0.0\n',
  'datasets/data.yml': 'dlspec: dataset/v1\nname: data\nversion: 1.0.0\nsynthetic: {seed: 0}\n',
};

async function problemsOf(folder: string): Promise<readonly string[]> {
  const result = await resolveEvaluation(join(folder, 'evaluations/e.yml'));
  return result.ok ? [] : result.problems.map((problem) => formatProblem(problem).replaceAll(`${folder}/`, ''));
}

test('a name and a version mean a manifest beside the evaluation, or in the folder of its kind', async (t) => {
  const folder = await folderWith(t, FILES);
  const { models, identities } = orThrow(await resolveEvaluation(join(folder, 'evaluations/e.yml')));
  assert.deepEqual(
    models.map(({ identity }) => identity?.file?.slice(folder.length + 1)),
    ['models/net.yml', 'evaluations/models/other@2.0.0.yml'],
  );
  assert.deepEqual(
    identities.map(({ kind, name }) => `${kind} ${name}`),
    ['evaluation e', 'hardware any', 'dataset data'],
  );
});

test('a name costs no more reads of its manifest than a path does', async (t) => {
  const readsOf = async (reference: string): Promise<number> => {
    const folder = await folderWith(t, {
      'net.yml': model('net', '1.2.0'),
      'e.yml': `dlspec: evaluation/v1\nname: e\nversion: 1.0.0\nmodels: [${reference}]\n`,
    });
    const paths: string[] = [];
    const read: typeof DISK.read = (path) => {
      paths.push(path);
      return DISK.read(path);
    };
    orThrow(await resolveEvaluation(join(folder, 'e.yml'), { files: { ...DISK, read } }));
    return paths.filter((path) => path === join(folder, 'net.yml')).length;
  };
  assert.equal(await readsOf('net@1.2.0'), await readsOf('net.yml'));
});

test('another version, and a name that is not there, are refused with their places', async (t) => {
  const folder = await folderWith(t, {
    ...FILES,
    'models/net.yml': model('net', '1.3.0'),
    'evaluations/any.yml': 'dlspec: software/v1\nname: any\nversion: 1.0.0\n',
  });
  const [version, kind, ...others] = await problemsOf(folder);
  assert.deepEqual(others, []);
  assert.match(version ?? '', /^evaluations\/e\.yml:4:10: models\[0\]: expected a model manifest net@1\.2\.0 beside/);
  assert.match(version ?? '', /found net@1\.3\.0 in "models\/net\.yml"$/);
  assert.match(kind ?? '', /hardware: expected a hardware manifest any@1\.0\.0 .*, found no any\.yml or/);
});

test('a pinned manifest that was changed is refused', async (t) => {
  const folder = await folderWith(t, FILES);
  const evaluation = join(folder, 'evaluations/e.yml');
  const referred = await referredManifests(evaluation);
  await pinManifests(evaluation, new Map(referred.map(({ reference, sha256 }) => [reference, sha256])));
  const lock = join(folder, 'evaluations/models-lock.json');
  const { manifests } = JSON.parse(await readFile(lock, 'utf8')) as { readonly manifests: object };
  assert.deepEqual(Object.keys(manifests), ['any@1.0.0', 'data@1.0.0', 'net@1.2.0', 'other@2.0.0']);
  assert.deepEqual(await problemsOf(folder), []);
  await writeFile(join(folder, 'models/net.yml'), `${model('net', '1.2.0')}task: other\n`);
  const [problem, ...others] = await problemsOf(folder);
  assert.deepEqual(others, []);
  assert.match(
    problem ?? '',
    /models\[0\]: expected the manifest that models-lock\.json pins \(SHA-256 [0-9a-f]{12}…\)/,
  );
  await assert.rejects(referredManifests(evaluation), /models-lock\.json pins/);
});
