import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { formatProblem, orThrow } from '../../src/manifest/problem.js';
import { resolveEvaluation } from '../../src/manifest/resolve-evaluation.js';
import { resolveModel } from '../../src/manifest/resolve-model.js';
import { folderWith } from './folder.js';

const ZOO = { zooNames: () => Promise.resolve(['resnet18', 'resnet50']) };

function evaluation(...lines: readonly string[]): string {
  return ['dlspec: evaluation/v1', 'name: e', 'version: 1.0.0', ...lines].join('\n');
}

function model(name: string, graph: string): string {
  return [
    'dlspec: model/v1',
    `name: ${name}`,
    'version: 1.0.0',
    'framework: {name: onnxruntime, version: ^1.20}',
    'inputs: [{layer_name: x, element_type: float32, dimensions: [batch]}]',
    'outputs: [{layer_name: y, element_type: float32, dimensions: [batch]}]',
    `model: ${graph}`,
  ].join('\n');
}

const DIGEST = 'ab'.repeat(32);
const HARDWARE = 'dlspec: hardware/v1\nname: h\nversion: 1.0.0\ncores: {min: 4}\n';

/** Problems of `evaluations/e.yml` in a folder with these files, as seen from that folder. */
async function problems(t: TestContext, files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const folder = await folderWith(t, files);
  const result = await resolveEvaluation(join(folder, 'evaluations/e.yml'), ZOO);
  return result.ok ? [] : result.problems.map((problem) => formatProblem(problem).replaceAll(`${folder}/`, ''));
}

test('references are followed from where the evaluation is', async (t) => {
  const folder = await folderWith(t, {
    'evaluations/e.yml': evaluation(
      'models: [../models/a.yml, ../models/deep/net.onnx, zoo:resnet18]',
      'hardware: ../h.yml',
      'software: {framework: {name: onnxruntime, version: ^1.20}}',
    ),
    'models/a.yml': model('a', `{graph_path: deep/net.onnx, checksum: ${DIGEST}}`),
    'models/deep/net.onnx': 'graph',
    'h.yml': HARDWARE,
  });
  const resolved = orThrow(await resolveEvaluation(join(folder, 'evaluations/e.yml'), ZOO));
  const path = join(folder, 'models/deep/net.onnx');
  assert.deepEqual(
    resolved.models.map(({ name, source }) => ({ name, source })),
    [
      { name: 'a', source: { kind: 'file', path, checksum: { algorithm: 'sha256', digest: DIGEST } } },
      { name: 'net', source: { kind: 'file', path, checksum: undefined } },
      { name: 'resnet18', source: { kind: 'zoo', name: 'resnet18' } },
    ],
  );
  assert.deepEqual(resolved.hardware?.cores, { min: 4 });
  assert.equal(resolved.software?.framework.version, '^1.20');
});

test('problems of all files come in one go, each with its own place', async (t) => {
  const found = await problems(t, {
    'evaluations/e.yml': evaluation('models: [../a.yml, ../none.yml, ../b.yml]', 'hardware: ../h.yml', 'cut: x'),
    'a.yml': model('a', '{graph_path: none.onnx, checksum: abc}'),
    'b.yml': model('b', `{graph_path: none.onnx, checksum: ${DIGEST}}`),
    'h.yml': `${HARDWARE}gpu: 1\n`,
  });
  assert.deepEqual(
    found.map((line) => line.replace(/: expected.*/, '')),
    [
      'evaluations/e.yml:4:20: models[1]',
      'evaluations/e.yml:6:6: cut',
      'a.yml:7:21: model.graph_path',
      'a.yml:7:42: model.checksum',
      'b.yml:7:21: model.graph_path',
      'h.yml:5:1: gpu',
    ],
  );
});

test('a missing file is a problem of what refers to it', async (t) => {
  const e = evaluation('models:', '  - ../none.onnx', 'dataset: ../none.yml');
  assert.deepEqual(await problems(t, { 'evaluations/e.yml': e }), [
    'evaluations/e.yml:5:5: models[0]: expected an ONNX file, found no such file at "none.onnx"',
    'evaluations/e.yml:6:10: dataset: expected a dataset manifest, found no such file at "none.yml"',
  ]);
});

test('a manifest of another kind is a problem of what refers to it', async (t) => {
  const e = evaluation('models: [../h.yml]', 'software: ../h.yml');
  assert.deepEqual(await problems(t, { 'evaluations/e.yml': e, 'h.yml': HARDWARE }), [
    'evaluations/e.yml:4:10: models[0]: expected a model manifest, found one of kind hardware at "h.yml" (evaluation manifests refer to it by their key `hardware`)',
    'evaluations/e.yml:5:11: software: expected a software manifest, found one of kind hardware at "h.yml" (evaluation manifests refer to it by their key `hardware`)',
  ]);
});

test('a model that the zoo lacks is a problem, with the one that was meant', async (t) => {
  assert.deepEqual(await problems(t, { 'evaluations/e.yml': evaluation('models: [zoo:resnet17]') }), [
    `evaluations/e.yml:4:10: models[0]: expected a model of the zoo ('mlmodelscope registry models' lists them), found "zoo:resnet17" (did you mean "zoo:resnet18"?)`,
  ]);
});

test('a name without zoo: is a problem, with the model of the zoo that was meant', async (t) => {
  const [problem, ...others] = await problems(t, { 'evaluations/e.yml': evaluation('models: [resnet18]') });
  assert.match(
    problem ?? '',
    /^evaluations\/e\.yml:4:10: models\[0\]: .* found "resnet18" \(did you mean "zoo:resnet18"\?\)$/,
  );
  assert.deepEqual(others, []);
});

test('two models of one name are a problem, because the name identifies results', async (t) => {
  const e = evaluation('models: [zoo:resnet18, ../a.yml]');
  assert.deepEqual(
    await problems(t, { 'evaluations/e.yml': e, 'a.yml': model('resnet18', '{graph_path: zoo:resnet50}') }),
    ['evaluations/e.yml:4:24: models[1]: expected models of different names, found "resnet18", as models[0] has'],
  );
});

test('a graph that is a folder is a problem', async (t) => {
  const e = evaluation('models: [../a.onnx]');
  assert.match(
    (await problems(t, { 'evaluations/e.yml': e, 'a.onnx/b': '' })).join(),
    /expected an ONNX file, found a folder/,
  );
});

test('a user may name a model by manifest, file or zoo name', async (t) => {
  const folder = await folderWith(t, { 'a.yml': model('a', '{graph_path: zoo:resnet18}'), 'b.onnx': '' });
  for (const [reference, name] of [
    [join(folder, 'a.yml'), 'a'],
    [join(folder, 'b.onnx'), 'b'],
    ['zoo:resnet50', 'resnet50'],
  ] as const) {
    assert.equal(orThrow(await resolveModel(reference, ZOO)).model.name, name);
  }
});

test('a user who names something else gets the list of valid names', async () => {
  const result = await resolveModel('model.pb');
  assert.ok(!result.ok);
  assert.match(result.problems.map(formatProblem).join(), /expected a model manifest \(\.yml\), an ONNX file/);

  const ofFolder = await resolveModel(tmpdir(), ZOO);
  assert.ok(!ofFolder.ok);
  assert.match(
    ofFolder.problems.map(formatProblem).join(),
    /found the folder ".*"; name its files, as in FOLDER\/\*\.onnx$/,
  );

  const ofZoo = await resolveModel('resnet50', ZOO);
  assert.ok(!ofZoo.ok);
  assert.match(ofZoo.problems.map(formatProblem).join(), /found "resnet50" \(did you mean "zoo:resnet50"\?\)$/);
});
