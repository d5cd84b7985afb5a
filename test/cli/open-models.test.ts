import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { floats, model, node, value } from '../onnx/protos.js';
import { deadline, type Workplace } from './support/command.js';
import { reportIn } from './support/report.js';
import { MEASURED_ONCE, QUICK } from './support/tiny-models.js';
import { workplaceHere } from './support/workplace-here.js';

/** A lookup, from which a value is subtracted that Expand makes with the shape of the lookup. */
const LOOKUP = model({
  initializer: [floats('half', [0.5], [])],
  input: [value('table', [10, 4]), value('ids', ['rows', 3], 'int64')],
  node: [
    node('Gather', ['table', 'ids'], ['found']),
    node('Shape', ['found'], ['shape']),
    node('Expand', ['half', 'shape'], ['halves']),
    node('Sub', ['found', 'halves'], ['centered']),
    node('Relu', ['centered'], ['y']),
  ],
  output: [value('y')],
});

async function placeWith(t: Parameters<typeof workplaceHere>[0], settings: Readonly<Record<string, unknown>> = {}) {
  const place = await workplaceHere(t);
  await place.write('lookup.onnx', LOOKUP);
  const manifest = {
    dlspec: 'evaluation/v1',
    name: 'lookup',
    version: '1.0.0',
    models: ['lookup.onnx'],
    dimensions: { rows: 5 },
    protocol: { warmup_runs: 1, runs: 3, min_runs: 1, time_budget_ms: 1000 },
    settings: { ...MEASURED_ONCE, ...settings },
  };
  return { place, manifest: await place.write('evaluation.yml', JSON.stringify(manifest)) };
}

const ASSUMED = /^note: lookup: the values of inputs are assumed: "ids" 0 to 9; give others with --input ids=VALUE/m;

describe('the values that an evaluation assumes for the inputs of its models', { ...deadline, concurrency: 2 }, () => {
  it('are printed and in the report', async (t) => {
    const { place, manifest } = await placeWith(t);
    const ending = await place.run(['dlbricks', 'run', manifest, '--export-json', '-']);
    assert.match(ending.stderr, ASSUMED);
    const [lookup] = reportIn(ending).models;
    assert.deepEqual(lookup?.assumed_inputs, [{ name: 'ids', values: '0 to 9' }]);
    assert.deepEqual(lookup.dimensions, [{ name: 'rows', size: 5 }]);
    assert.match(ending.stderr, /got sizes before the runtime optimized the graphs: lookup \(rows 5\); --keep-dynamic/);
  });

  it('are replaced by those that options and manifests give', async (t) => {
    const { place, manifest } = await placeWith(t);
    const byOption = await place.run(['dlbricks', 'run', manifest, '--input', 'ids=0..2', '--export-json', '-']);
    assert.doesNotMatch(byOption.stderr, /assumed/);
    assert.deepEqual(reportIn(byOption).models[0]?.assumed_inputs, []);

    const checksum = createHash('sha256').update(LOOKUP).digest('hex');
    const given = {
      dlspec: 'model/v1',
      name: 'lookup',
      version: '1.0.0',
      framework: { name: 'onnxruntime', version: '^1.20' },
      inputs: [
        { layer_name: 'table', element_type: 'float32', dimensions: [10, 4] },
        { layer_name: 'ids', element_type: 'int64', dimensions: ['rows', 3], values: '0..2' },
      ],
      outputs: [{ layer_name: 'y', element_type: 'float32', dimensions: ['rows', 3, 4] }],
      dimensions: { rows: 5 },
      model: { graph_path: 'lookup.onnx', checksum },
    };
    const ofModel = await place.write('lookup.yml', JSON.stringify(given));
    const byManifest = await place.run(['dlbricks', 'run', ofModel, ...QUICK, '--export-json', '-']);
    assert.doesNotMatch(byManifest.stderr, /assumed/);
    assert.deepEqual(reportIn(byManifest).models[0]?.assumed_inputs, []);
  });
});

describe('--keep-dynamic', { ...deadline, concurrency: 2 }, () => {
  const kernelsBy = async (place: Workplace, ...args: readonly string[]): Promise<number | null | undefined> => {
    const ending = await place.run(['dlbricks', ...args, '--export-json', '-']);
    assert.equal(ending.code, 0, ending.stderr);
    const [lookup] = reportIn(ending).models;
    assert.equal(lookup?.coverage, 1);
    assert.equal(reportIn(ending).settings.keep_dynamic, args.includes('--keep-dynamic'));
    return lookup.kernels;
  };

  it('estimates and measures the graph that the runtime makes of the unchanged file', async (t) => {
    const { place } = await placeWith(t);
    const validate = ['validate', 'lookup.onnx', '--dimension', 'rows=5', ...QUICK];
    // With known sizes, the value that Expand makes is a constant.
    assert.equal(await kernelsBy(place, ...validate), 3);
    const open = await kernelsBy(place, ...validate, '--keep-dynamic');
    assert.ok(open !== undefined && open !== null && open > 3, `${open} kernels`);
  });

  it('does the same in an evaluation that is sent to a server', async (t) => {
    const { place, manifest } = await placeWith(t, { keep_dynamic: true });
    const ending = await place.run(['evaluate', manifest, '--export-json', 'report.json']);
    assert.equal(ending.code, 0, ending.stderr);
    const open = await kernelsBy(place, 'validate', 'lookup.onnx', '--dimension', 'rows=5', ...QUICK, '--keep-dynamic');
    assert.match(ending.stderr, ASSUMED);
    assert.equal(reportIn({ stdout: await readFile(place.path('report.json'), 'utf8') }).models[0]?.kernels, open);
  });
});
