import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { describe, it } from 'node:test';
import { reportSchema } from '../../plugins/dlbricks/report/report-schema.js';
import { latencyResultSchema } from '../../plugins/latency/latency-result.js';
import { provenanceSchema } from '../../src/agent/provenance.js';
import { PLATFORM_VERSION } from '../../src/base/platform-version.js';
import { systemsResultSchema } from '../../src/evaluation/systems-result.js';
import { deadline, type Workplace } from './support/command.js';
import { AS_STORED, chain, FOUR_LAYERS, LAYER_CUT, QUICK } from './support/tiny-models.js';
import { classifierManifest } from './support/predicting-models.js';
import { workplaceHere } from './support/workplace-here.js';

const JSON_OUT = ['--export-json', '-'] as const;

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

const GRAPH = chain(FOUR_LAYERS);

const MANIFEST = `dlspec: model/v1
name: net
version: 1.2.0
framework: { name: onnxruntime, version: '*' }
model: { graph_path: net.onnx, checksum: ${sha256(GRAPH)} }
inputs: [{ layer_name: x, element_type: float32, dimensions: [batch, 8] }]
outputs: [{ layer_name: y, element_type: float32, dimensions: [batch, 8] }]
`;

const DATASET = `dlspec: dataset/v1
name: made-up
version: 1.0.0
synthetic: { seed: 0 }
`;

function evaluationManifest(more: string): string {
  return `dlspec: evaluation/v1
name: nightly
version: 3.0.0
models: [net.yml]
dataset: made-up.yml
protocol: { warmup_runs: 1, runs: 3, min_runs: 1 }
${more}`;
}

/** A folder with a model, its manifest and a dataset. */
async function withModel(place: Workplace): Promise<void> {
  await place.write('net.onnx', GRAPH);
  await place.write('net.yml', MANIFEST);
  await place.write('made-up.yml', DATASET);
}

async function documentOf(place: Workplace, args: readonly string[]): Promise<unknown> {
  const { stdout, stderr, code } = await place.run([...args, ...JSON_OUT]);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

const OF_MODEL = { kind: 'model', name: 'net', version: '1.2.0', sha256: sha256(MANIFEST) };

describe('the provenance', { ...deadline, concurrency: 2 }, () => {
  it('of a report names every manifest, its model, the tool, the host and the time', async (t) => {
    const place = await workplaceHere(t);
    await withModel(place);
    const evaluation = evaluationManifest('settings: { cut: layer, remeasure: none, measure_end_to_end: true }');
    await place.write('nightly.yml', evaluation);
    const before = new Date().toISOString();
    const document = await documentOf(place, ['dlbricks', 'run', 'nightly.yml']);
    const { provenance, models } = reportSchema.parse(document);
    assert.ok(provenance !== null);
    assert.deepEqual(provenance.manifests, [
      { kind: 'evaluation', name: 'nightly', version: '3.0.0', sha256: sha256(evaluation) },
      { kind: 'dataset', name: 'made-up', version: '1.0.0', sha256: sha256(DATASET) },
      OF_MODEL,
    ]);
    const [model] = provenance.models;
    // The file has no weights, so that nothing is its own.
    const { weights } = model ?? {};
    assert.deepEqual(model, { name: 'net', graph_sha256: null, file_sha256: sha256(GRAPH), weights, source: 'file' });
    assert.match(models[0]?.graph_signature ?? '', /^[0-9a-f]{64}$/);
    assert.deepEqual(provenance.tool, { name: 'mlmodelscope', version: PLATFORM_VERSION });
    assert.equal(provenance.host, hostname());
    assert.ok(provenance.created_at >= before && provenance.created_at <= new Date().toISOString());
    assert.deepEqual(provenance.reasons, {
      graph_sha256: 'see graph_signature of the models',
      protocol: 'see settings',
      stack: 'see system',
    });
  });

  it('has a reason for every field that is null', async (t) => {
    const place = await workplaceHere(t);
    await withModel(place);
    await place.run(['dlbricks', 'validate', 'net.yml', ...LAYER_CUT, ...QUICK, ...AS_STORED]);
    await place.write('table.csv', 'model,system,index,op,input_shapes,output_shapes,duration_ms\nn,s,0,Relu,1,1,1\n');
    for (const args of [
      ['dlbricks', 'compose', 'net.onnx', ...LAYER_CUT, ...QUICK],
      ['dlbricks', 'compose', '--from-traces', 'table.csv'],
      ['dlbricks', 'share', 'net.onnx', ...LAYER_CUT],
      ['latency', 'net.onnx', ...QUICK, ...AS_STORED],
      ['load', 'net.onnx', '--threads', '1', '--scenario', 'batch', '--queries', '5'],
      ['trace', 'model', 'net.onnx', '--runs', '3'],
      ['analyze', 'latency', 'runs'],
    ]) {
      const { provenance } = (await documentOf(place, args)) as { provenance: unknown };
      const { models, reasons, ...fields } = provenanceSchema.parse(provenance);
      const nulls = [fields, ...models].flatMap((part) => {
        return Object.entries(part).flatMap(([field, value]) => (value === null ? [field] : []));
      });
      assert.deepEqual([...new Set(nulls)].toSorted(), Object.keys(reasons).toSorted(), args.join(' '));
    }
  });

  it('of whole models has the protocol and the stack', async (t) => {
    const place = await workplaceHere(t);
    await withModel(place);
    const document = await documentOf(place, ['latency', 'net.yml', ...QUICK, ...AS_STORED]);
    const { provenance } = latencyResultSchema.parse(document);
    assert.deepEqual(provenance?.manifests, [OF_MODEL]);
    assert.deepEqual([provenance.protocol?.runs, provenance.protocol?.warmup_runs], [3, 1]);
    assert.equal(provenance.stack?.framework, 'onnxruntime');
    assert.match(provenance.models[0]?.graph_sha256 ?? '', /^[0-9a-f]{64}$/);
    assert.deepEqual(provenance.reasons, {});
  });

  it('goes with an evaluation to the platform and back', async (t) => {
    const place = await workplaceHere(t);
    await withModel(place);
    const evaluation = evaluationManifest('plugin: latency\nplacement: each\nsettings: { remeasure: none }');
    await place.write('nightly.yml', evaluation);
    const document = await documentOf(place, ['evaluate', 'nightly.yml']);
    const { provenance, systems } = systemsResultSchema.parse(document);
    assert.deepEqual(provenance?.manifests[0]?.sha256, sha256(evaluation));
    const ofSystem = latencyResultSchema.parse(systems[0]?.result).provenance;
    assert.deepEqual(ofSystem?.manifests, provenance.manifests);
    assert.equal(ofSystem.models[0]?.file_sha256, sha256(GRAPH));
    assert.equal(ofSystem.host, hostname());
  });

  it('of predictions is on their first line', async (t) => {
    const place = await workplaceHere(t);
    const model = await classifierManifest(place);
    const args = ['predict', 'dataset', 'synthetic/2', '--model', model, ...JSON_OUT];
    const { stdout, stderr, code } = await place.run(args);
    assert.equal(code, 0, stderr);
    const [first, second] = stdout.split('\n').map((line) => JSON.parse(line || '{}') as Record<string, unknown>);
    const provenance = provenanceSchema.parse(first?.['provenance']);
    assert.equal(provenance.manifests[0]?.kind, 'model');
    assert.equal(provenance.models[0]?.weights, 'own');
    assert.equal(provenance.host, hostname());
    assert.equal(second?.['provenance'], undefined);
  });
});
