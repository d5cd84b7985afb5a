import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { deadline, type Workplace } from '../cli/support/command.js';
import { AS_STORED, chain, FOUR_LAYERS, LAYER_CUT, QUICK } from '../cli/support/tiny-models.js';
import { assertOfSchema } from './validator.js';
import { workplaceHere } from '../cli/support/workplace-here.js';

/** Options for short measurements that are not taken again on a busy machine. */
const MEASURING = [...LAYER_CUT, ...QUICK, ...AS_STORED] as const;

const ANYWHERE = ['--listen', '127.0.0.1:0'] as const;

const TABLE = 'model,system,index,op,input_shapes,output_shapes,duration_ms\nnet,here,0,Relu,1x8,1x8,1.5\n';

async function stdoutOf(place: Workplace, args: readonly string[]): Promise<string> {
  const { stdout, stderr, code } = await place.run(args);
  assert.equal(code, 0, stderr);
  return stdout;
}

/** A document of today has its provenance; null is only in documents of earlier versions. */
function assertDocument(schema: string, document: object): void {
  assertOfSchema(schema, document);
  if ('provenance' in document) assert.notEqual(document.provenance, null, schema);
}

/** Checks the only document on a command's standard output. */
async function assertPrints(place: Workplace, schema: string, args: readonly string[]): Promise<void> {
  assertDocument(schema, JSON.parse(await stdoutOf(place, args)) as object);
}

async function assertWritten(place: Workplace, schema: string, file: string): Promise<void> {
  assertOfSchema(schema, JSON.parse(await readFile(place.path(file), 'utf8')));
}

describe('JSON by the published schemas', { ...deadline, concurrency: 2 }, () => {
  it('is exported by `dlbricks`', async (t) => {
    const place = await workplaceHere(t);
    await place.write('net.onnx', chain(FOUR_LAYERS));
    const toStdout = ['--export-json', '-'] as const;
    await assertPrints(place, 'report', ['dlbricks', 'validate', 'net.onnx', ...MEASURING, ...toStdout]);
    await stdoutOf(place, ['dlbricks', 'run', 'net.onnx', ...MEASURING, '--export-json', 'before.json']);
    await assertPrints(place, 'comparison', ['compare', 'before.json', 'before.json', ...toStdout]);
    await assertPrints(place, 'sharing', ['dlbricks', 'share', 'net.onnx', ...LAYER_CUT, ...toStdout]);
    await assertPrints(place, 'sweep', ['dlbricks', 'sweep', 'net.onnx', '--cut', 'layer', ...QUICK, ...toStdout]);
    await stdoutOf(place, ['dlbricks', 'generate', 'net.onnx', '-o', 'given', ...LAYER_CUT]);
    await assertWritten(place, 'suite', 'given/suite/suite.json');
    await assertWritten(place, 'recipe', 'given/recipe.json');
    await assertPrints(place, 'results', ['dlbricks', 'run', '--suite', 'given/suite', ...QUICK, ...AS_STORED, ...toStdout]);
    await place.write('table.csv', TABLE);
    await assertPrints(place, 'trace-report', ['dlbricks', 'compose', '--from-traces', 'table.csv', ...toStdout]);
  });

  it('is printed by the platform for a store and for a model', async (t) => {
    const place = await workplaceHere(t);
    await place.write('net.onnx', chain(FOUR_LAYERS));
    await stdoutOf(place, ['dlbricks', 'validate', 'net.onnx', ...MEASURING]);
    await assertPrints(place, 'store', ['store', 'info', '--json']);
    const lines = (await stdoutOf(place, ['store', 'list', '--json'])).trimEnd().split('\n');
    // Three unique bricks, and the whole model twice.
    assert.equal(lines.length, 5);
    for (const line of lines) assertOfSchema('measurement', JSON.parse(line));
    await assertPrints(place, 'analysis', ['analyze', 'latency', 'runs', '--export-json', '-']);
    await assertPrints(place, 'model-trace', ['trace', 'model', 'net.onnx', '--runs', '3', '--export-json', '-']);
    await assertPrints(place, 'models', ['registry', 'models', '--json']);
    await assertPrints(place, 'agents', ['registry', 'agents', '--json']);
  });

  it('is printed for a server', async (t) => {
    const place = await workplaceHere(t);
    await place.write('net.onnx', chain(FOUR_LAYERS));
    const header = { dlspec: 'evaluation/v1', name: 'tiny', version: '1.0.0', plugin: 'latency' };
    const measuring = { models: ['net.onnx'], settings: { remeasure: 'none' } };
    const manifest = await place.write('tiny.yml', JSON.stringify({ ...header, ...measuring }));
    const server = place.start(['serve', ...ANYWHERE, '--plugins', 'latency']);
    const [, address = ''] = await server.said(/server listening on (127\.0\.0\.1:\d+)/);
    const agent = place.start(['agent', ...ANYWHERE, '--server', address]);
    await agent.said(/registered with/);
    const at = ['--server', address] as const;
    await assertPrints(place, 'agents', ['registry', 'agents', '--json', ...at]);
    await stdoutOf(place, ['evaluate', manifest, ...at]);
    await assertPrints(place, 'evaluations', ['evaluations', 'list', '--json', ...at]);
    await assertPrints(place, 'evaluation', ['evaluations', 'show', 'latest', '--json', ...at]);
  });
});
