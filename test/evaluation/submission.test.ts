import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import { join } from 'node:path';
import { loadSubmission, submissionOf, type Submission } from '../../src/evaluation/submission.js';
import { AgentChoice_Placement } from '../../src/generated/mlmodelscope/evaluation/v1/submission.js';
import { fromWireSubmission, toWireSubmission } from '../../src/evaluation/wire/submission-wire.js';
import { weightlessBenchmark } from '../../src/measurement/weightless.js';
import { loadEvaluation } from '../../src/registry/load-evaluation.js';
import { chain } from '../cli/support/tiny-models.js';
import { folderWith } from '../manifest/folder.js';
import { modelsWithExternalTensor } from '../onnx/external-places.js';
import { assertRefused, refusal } from '../rpc/support/refusal.js';

const NET = chain(['Relu', 'Exp', 'Abs']);
const SHA256 = createHash('sha256').update(NET).digest('hex');

const MODEL = [
  'dlspec: model/v1',
  'name: net',
  'version: 1.0.0',
  'framework: {name: onnxruntime, version: ^1.20}',
  'inputs: [{layer_name: x, element_type: float32, dimensions: [batch, 8]}]',
  'outputs: [{layer_name: y, element_type: float32, dimensions: [batch, 8]}]',
  `model: {graph_path: ../graphs/net.onnx, checksum: ${SHA256}}`,
].join('\n');

const EVALUATION = [
  'dlspec: evaluation/v1',
  'name: e',
  'version: 1.0.0',
  'models: [../models/net.yml, zoo:squeezenet1.1, ../graphs/other.onnx]',
  'hardware: ../hardware.yml',
  'batch_size: 4',
].join('\n');

const FILES = {
  'evaluations/e.yml': EVALUATION,
  'models/net.yml': MODEL,
  'graphs/net.onnx': NET,
  'graphs/other.onnx': NET,
  'hardware.yml': 'dlspec: hardware/v1\nname: h\nversion: 1.0.0\ncores: {min: 4}\n',
};

async function submitted(t: TestContext): Promise<{ readonly path: string; readonly submission: Submission }> {
  const folder = await folderWith(t, FILES);
  process.env['MLMODELSCOPE_CACHE'] = join(folder, 'cache');
  const path = join(folder, 'evaluations/e.yml');
  const { submission } = await submissionOf(path);
  return { path, submission: fromWireSubmission(toWireSubmission(submission)) };
}

describe('a submission', { timeout: 60_000 }, () => {
  it('can override the choice of agents in its manifest', async (t) => {
    const { submission } = await submitted(t);
    const sent = (changes: Partial<Submission>) => fromWireSubmission(toWireSubmission({ ...submission, ...changes }));
    const agentsOf = async (of: Submission) => (await loadSubmission(of)).loaded.requirements.agents;
    assert.deepEqual(await agentsOf(sent({})), { most: 1, placement: 'spread' });
    for (const agents of [
      { most: Infinity, placement: 'each' },
      { most: 3, placement: 'spread' },
    ] as const) {
      assert.deepEqual(await agentsOf(sent({ agents })), agents);
      // The submission that a server stores.
      const { submission: stored } = await loadSubmission(sent({ agents }));
      assert.deepEqual(stored.agents, agents);
    }
    const wrong = {
      ...toWireSubmission(submission),
      agents: { most: 1, placement: AgentChoice_Placement.UNSPECIFIED },
    };
    assert.throws(() => fromWireSubmission(wrong), refusal('usage', /agents\.placement/));
  });

  it('gives the evaluation that it was made from', async (t) => {
    const { path, submission } = await submitted(t);
    const there = (await loadSubmission(submission)).loaded;
    const here = await loadEvaluation(path);
    assert.deepEqual(there.manifest, here.manifest);
    assert.deepEqual(there.protocol, here.protocol);
    const benchmarks = (models: typeof here.models) =>
      models.map(({ name, model }) => ({ name, ...weightlessBenchmark(model) }));
    assert.deepEqual(benchmarks(there.models), benchmarks(here.models));
    const small = { framework: 'onnxruntime', frameworkVersion: '1.20.0', architecture: 'x64', processor: '' };
    const candidate = { ...small, cores: 2, memoryBytes: 1 };
    assert.deepEqual(there.requirements, here.requirements);
    assert.equal(there.unmet(candidate).length, 1);
  });

  it('has manifests and graphs, and no model files', async (t) => {
    const { submission } = await submitted(t);
    const withContent = [...submission.files].filter(([, bytes]) => bytes !== undefined).map(([path]) => path);
    assert.deepEqual(
      withContent.map((path) => path.slice(path.lastIndexOf('/') + 1)),
      ['e.yml', 'net.yml', 'hardware.yml'],
    );
    assert.deepEqual([...submission.graphs.keys()], ['net', 'squeezenet1.1', 'other']);
  });

  it('with whole files gives the same evaluation', async (t) => {
    const { path } = await submitted(t);
    const files = new Map(Object.entries(FILES).map(([name, content]) => [name, Buffer.from(content)]));
    const { loaded } = await loadSubmission({ manifestPath: 'evaluations/e.yml', files, graphs: new Map() });
    const signatures = (models: typeof loaded.models) =>
      models.map(({ model }) => weightlessBenchmark(model).signature);
    assert.deepEqual(signatures(loaded.models), signatures((await loadEvaluation(path)).models));
  });

  it('with a file that does not match its manifest continues with the other models', async () => {
    const files = { ...FILES, 'graphs/net.onnx': chain(['Relu', 'Exp']) };
    const content = new Map(Object.entries(files).map(([name, bytes]) => [name, Buffer.from(bytes)]));
    const { loaded } = await loadSubmission({ manifestPath: 'evaluations/e.yml', files: content, graphs: new Map() });
    assert.deepEqual(
      loaded.models.map(({ name }) => name),
      ['squeezenet1.1', 'other'],
    );
    assert.equal(loaded.unusable[0]?.name, 'net');
    assert.match(loaded.unusable[0].reason, /graphs\/net\.onnx is not the file of its manifest: expected sha256/);
  });

  it('has the reason why its client could not read a model, and no bytes of this model', async (t) => {
    const folder = await folderWith(t, { ...FILES, 'graphs/other.onnx': 'no model' });
    process.env['MLMODELSCOPE_CACHE'] = join(folder, 'cache');
    const made = await submissionOf(join(folder, 'evaluations/e.yml'));
    const travelled = fromWireSubmission(toWireSubmission(made.submission));
    assert.equal([...travelled.files].find(([path]) => path.endsWith('other.onnx'))?.[1], undefined);
    const { loaded, submission } = await loadSubmission(travelled);
    assert.deepEqual(loaded.unusable, made.loaded.unusable);
    assert.match(loaded.unusable[0]?.reason ?? '', /other\.onnx/);
    // The submission that a plugin gets.
    assert.deepEqual((await loadSubmission(submission)).loaded.unusable, loaded.unusable);
    assert.deepEqual(
      loaded.models.map(({ name }) => name),
      ['net', 'squeezenet1.1'],
    );
  });

  it('without a readable model is refused with every reason', async () => {
    const manifest = EVALUATION.replace(/models: .*/, 'models: [a.onnx, b.onnx]').replace(/hardware: .*\n/, '');
    const files = new Map([
      ['e.yml', Buffer.from(manifest)],
      ['a.onnx', Buffer.from('no model')],
      ['b.onnx', Buffer.from('none either')],
    ]);
    const loading = loadSubmission({ manifestPath: 'e.yml', files, graphs: new Map() });
    await assertRefused(loading, 'model', /a\.onnx.*\n.*b\.onnx/);
  });

  it('has reasons of limited length', async (t) => {
    const { submission } = await submitted(t);
    const wire = toWireSubmission({ ...submission, unusable: [{ name: 'net', reason: 'x'.repeat(10_000) }] });
    assert.equal(wire.unusable[0]?.reason.length, 4096);
    const longer = { ...wire, unusable: [{ model: 'net', reason: 'x'.repeat(4097) }] };
    assert.throws(() => fromWireSubmission(longer), refusal('usage', /reason has more than/));
  });

  it('without a graph that it needs is refused', async (t) => {
    const { submission } = await submitted(t);
    await assert.rejects(
      loadSubmission({ ...submission, graphs: new Map() }),
      /net\.onnx: submitted without its content, and graphs has no net/,
    );
  });

  const evaluation = EVALUATION.replace(/models: .*/, 'models: [net.onnx]').replace(/hardware: .*\n/, '');
  for (const [place, model] of modelsWithExternalTensor('/etc/passwd')) {
    it(`with a tensor in another file is refused: ${place}`, async () => {
      const external = /tensor are in an external file/;
      const manifest = ['e.yml', Buffer.from(evaluation)] as const;
      const files = new Map([manifest, ['net.onnx', Buffer.from(model)]]);
      await assert.rejects(loadSubmission({ manifestPath: 'e.yml', files, graphs: new Map() }), external);
      const graphs = new Map([['net', { signature: SHA256, model, inputs: [] }]]);
      const named = new Map([manifest, ['net.onnx', undefined]]);
      await assert.rejects(loadSubmission({ manifestPath: 'e.yml', files: named, graphs }), external);
    });
  }
});
