import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { load } from 'js-yaml';
import { OUTPUT_VERDICTS, PERFORMANCE_VERDICTS } from '../../src/reference-log/verdicts.js';
import { computeChecksum, type Log, logSchema, SECTIONS } from '../../src/reference-log/log-schema.js';
import { reproductionSchema } from '../../src/reference-log/reproduction-schema.js';
import { deadline, type Workplace } from './support/command.js';
import { convModel } from './support/conv-model.js';
import { AS_STORED, chain, FOUR_LAYERS, MEASURED_ONCE, ONCE, QUICK } from './support/tiny-models.js';
import { workplaceHere } from './support/workplace-here.js';

const GRAPH = chain(FOUR_LAYERS);

const MANIFEST = `dlspec: model/v1
name: net
version: 1.2.0
framework: { name: onnxruntime, version: '*' }
model: { graph_path: net.onnx, checksum: ${createHash('sha256').update(GRAPH).digest('hex')} }
inputs: [{ layer_name: x, element_type: float32, dimensions: [batch, 8] }]
outputs: [{ layer_name: y, element_type: float32, dimensions: [batch, 8] }]
`;

const pathOf = (place: Workplace, name: string): string => join(place.folder, name);

async function logIn(place: Workplace): Promise<Log> {
  return logSchema.parse(load(await readFile(pathOf(place, 'log.yml'), 'utf8')));
}

/** Logs by the arguments of their commands, which run once for all tests. */
const logs = new Map<string, Promise<string>>();

/** A place with the log of a run of the model with its manifest. */
async function logged(t: Parameters<typeof workplaceHere>[0], args = ['latency', 'net.yml', '--threads', '1']) {
  const place = await workplaceHere(t);
  await place.write('net.onnx', GRAPH);
  await place.write('net.yml', MANIFEST);
  const log = logs.get(args.join(' ')) ?? makeLog(place, args);
  logs.set(args.join(' '), log);
  await place.write('log.yml', await log);
  return place;
}

async function makeLog(place: Workplace, args: readonly string[]): Promise<string> {
  const { code, stderr } = await place.run([...args, ...QUICK, ...AS_STORED, '--log', 'log.yml']);
  assert.equal(code, 0, stderr);
  return readFile(pathOf(place, 'log.yml'), 'utf8');
}

async function refusalOf(place: Workplace): Promise<string> {
  const { stderr, stdout, code } = await place.run(['reproduce', 'log.yml']);
  assert.equal(code, 4, stderr);
  assert.equal(stdout, '');
  return stderr;
}

/** Writes the log again, edited, with checksums that fit. */
async function forge(place: Workplace, edit: (log: Log) => void): Promise<void> {
  const log = await logIn(place);
  edit(log);
  for (const section of SECTIONS) log.checksums[section] = computeChecksum(log[section]);
  await place.write('log.yml', JSON.stringify(log));
}

describe('a reference log', { ...deadline, concurrency: 2 }, () => {
  it('says what ran, on what, and what came out', async (t) => {
    const place = await logged(t);
    const { task, resolved, achieved, tool } = await logIn(place);
    assert.equal(tool.name, 'mlmodelscope');
    assert.equal(task.command, 'latency');
    assert.deepEqual(
      task.manifests.map(({ kind, name, version, file }) => [kind, name, version, file]),
      [['model', 'net', '1.2.0', 'net.yml']],
    );
    const [evaluation] = task.evaluations;
    assert.deepEqual(
      [evaluation?.['models'], evaluation?.['threads'], evaluation?.['plugin']],
      [['net.yml'], 1, 'latency'],
    );
    assert.equal(resolved.stack?.framework, 'onnxruntime');
    const [model] = achieved[0] ?? [];
    assert.deepEqual([model?.runs, model?.weights, model?.inputs[0]?.seed], [3, 'made_up', 1]);
    assert.ok((model?.latency_ms ?? 0) > 0);
    const [output] = model?.outputs ?? [];
    assert.deepEqual([output?.name, output?.dims, output?.first.length], ['y', [1, 8], 8]);
    assert.deepEqual(model?.layers?.names, ['v1', 'v2', 'v3', 'y']);
  });

  it('is reproduced with the same outputs under comparable conditions', async (t) => {
    const place = await logged(t);
    const args = ['reproduce', 'log.yml', '--processes', '2', '--export-json', '-'];
    const { stdout, stderr, code } = await place.run(args);
    const { outputs, performance, conditions, models } = reproductionSchema.parse(JSON.parse(stdout));
    assert.deepEqual([outputs, conditions.verdict, models[0]?.processes], ['same', 'comparable', 2], stderr);
    // Times of two processes of a few microseconds may differ by anything.
    assert.equal(code, performance === 'reproduced' ? 0 : 3);
    assert.match(stderr, /outputs: same\n.*performance: /s);
  });

  it('of weights of a file says that another agent does not have them', async (t) => {
    const place = await workplaceHere(t);
    await place.write('conv.onnx', convModel());
    const { code, stderr } = await place.run(['latency', 'conv.onnx', ...QUICK, ...AS_STORED, '--log', 'log.yml']);
    assert.equal(code, 0, stderr);
    const [model] = (await logIn(place)).achieved[0] ?? [];
    assert.deepEqual([model?.weights, model?.files_sha256?.length], ['own', 64]);
    const agent = place.start(['agent', '--listen', '127.0.0.1:0']);
    t.after(() => agent.process.kill('SIGTERM'));
    const [, address = ''] = await agent.said(/listening on (127\.0\.0\.1:\d+)/);
    const args = ['reproduce', 'log.yml', '--processes', '2', '--export-json', '-'];
    const here = reproductionSchema.parse(JSON.parse((await place.run(args)).stdout));
    assert.deepEqual([here.outputs, here.models[0]?.outputs_detail], ['same', '']);
    const ending = await place.run([...args, '--agent', address]);
    const { outputs, models } = reproductionSchema.parse(JSON.parse(ending.stdout));
    assert.deepEqual([outputs, models[0]?.first_layer, ending.code], ['not known', null, 3]);
    assert.match(models[0]?.outputs_detail ?? '', /weights of its file, which an agent elsewhere does not have/);
    assert.match(ending.stderr, /conv: the log's outputs are of the weights of its file/);
  });

  it('of estimates has intervals, and is measured again once', async (t) => {
    const place = await logged(t, ['dlbricks', 'run', 'net.yml', '--threads', '1', ...ONCE]);
    const { stdout } = await place.run(['reproduce', 'log.yml', '--export-json', '-']);
    const { outputs, models } = reproductionSchema.parse(JSON.parse(stdout));
    assert.equal(outputs, 'same');
    const [model] = (await logIn(place)).achieved[0] ?? [];
    assert.equal(models[0]?.processes, model?.low_ms === null ? 5 : 1);
    assert.equal(models[0]?.logged_ms, model?.latency_ms);
  });

  it('of an evaluation names its manifests', async (t) => {
    const place = await workplaceHere(t);
    await place.write('net.onnx', GRAPH);
    await place.write('net.yml', MANIFEST);
    const settings = JSON.stringify(MEASURED_ONCE);
    const evaluation = `dlspec: evaluation/v1\nname: nightly\nversion: 3.0.0\nmodels: [net.yml]\nprotocol: { warmup_runs: 1, runs: 3, min_runs: 1 }\nsettings: ${settings}\n`;
    await place.write('nightly.yml', evaluation);
    const { code, stderr } = await place.run(['evaluate', 'nightly.yml', '--log', 'log.yml']);
    assert.equal(code, 0, stderr);
    const { task } = await logIn(place);
    assert.deepEqual(
      task.manifests.map(({ kind, file }) => [kind, file]),
      [
        ['evaluation', 'nightly.yml'],
        ['model', 'net.yml'],
      ],
    );
    await place.write('nightly.yml', evaluation.replace('runs: 3,', 'runs: 4,'));
    assert.match(await refusalOf(place), /evaluation nightly 3\.0\.0: nightly\.yml was changed/);
  });

  it('is refused after a changed byte of a graph', async (t) => {
    const place = await logged(t, ['latency', 'net.onnx', '--threads', '1']);
    const bytes = Buffer.from(GRAPH);
    // Relu becomes Selu.
    bytes.write('S', bytes.indexOf('Relu'));
    await place.write('net.onnx', bytes);
    const refusal = await refusalOf(place);
    assert.match(refusal, /net: the graph was changed \([0-9a-f]{12} instead of [0-9a-f]{12}\)/);
    assert.doesNotMatch(refusal, /edited|seed/);
  });

  it('is refused with another seed', async (t) => {
    const place = await logged(t);
    await forge(place, ({ achieved }) => {
      const [input] = achieved[0]?.[0]?.inputs ?? [];
      if (input !== undefined) input.seed = 7;
    });
    const refusal = await refusalOf(place);
    assert.match(refusal, /net: input x has the seed 7 in the log; it is made up from 1/);
    assert.doesNotMatch(refusal, /edited|graph/);
  });

  it('is refused after an edited field, by the part that was edited', async (t) => {
    const place = await logged(t);
    const log = await logIn(place);
    const [evaluation] = log.task.evaluations;
    if (evaluation !== undefined) evaluation['threads'] = 2;
    await place.write('log.yml', JSON.stringify(log));
    const refusal = await refusalOf(place);
    assert.match(refusal, /task: this part of the log was edited/);
    assert.doesNotMatch(refusal, /achieved|seed|graph/);
  });

  it('lists everything that is missing or changed', async (t) => {
    const place = await logged(t);
    await place.write('net.yml', `${MANIFEST}description: another\n`);
    assert.match(await refusalOf(place), /model net 1\.2\.0: net\.yml was changed/);
    await forge(place, ({ task }) => (task.manifests[0]!.file = 'gone.yml'));
    assert.match(await refusalOf(place), /model net 1\.2\.0: no such file at gone\.yml/);
  });

  it('whose model is gone names no place in a file that is not there', async (t) => {
    const place = await logged(t);
    await rm(place.path('net.onnx'));
    const refusal = await refusalOf(place);
    assert.match(refusal, /net\.onnx/);
    assert.doesNotMatch(refusal, /log-evaluation|:1:\d+/);
  });

  it('opens nothing outside of its folder', async (t) => {
    const place = await logged(t);
    await forge(place, ({ task }) => (task.evaluations[0]!['models'] = ['/etc/hosts.yml', '../other.yml']));
    const refusal = await refusalOf(place);
    assert.equal(refusal.match(/a file outside of the log's folder, which is not opened/g)?.length, 2);
  });

  it('of a version that told less of its surroundings was not edited', async (t) => {
    const place = await logged(t);
    await forge(place, ({ resolved }) => delete resolved.surroundings?.decoder);
    const { stdout } = await place.run(['doctor', 'log.yml', '--json']);
    assert.doesNotMatch(stdout, /edited_log/);
  });

  it('of another version, or of something else, is refused with its place', async (t) => {
    const place = await logged(t);
    const text = await readFile(pathOf(place, 'log.yml'), 'utf8');
    await place.write('log.yml', text.replace('log/v1', 'log/v2'));
    const ending = await place.run(['reproduce', 'log.yml']);
    assert.equal(ending.code, 2);
    assert.match(ending.stderr, /log\.yml:1:\d+: dlspec: expected "log\/v1", found .?"log\/v2"/);
    await place.write('report.json', '{ "models": [] }');
    const report = await place.run(['reproduce', 'report.json']);
    assert.equal(
      report.stderr,
      'report.json: expected a log that --log wrote, found another file (no dlspec: log/v1)\n',
    );
    assert.equal(report.code, 2);
    const missing = await place.run(['reproduce', 'gone.yml']);
    assert.match(missing.stderr, /gone\.yml: expected a log that --log wrote, found no such file/);
  });

  it('is not written where it could not refer to its models', async (t) => {
    const place = await workplaceHere(t);
    await place.write('net.onnx', GRAPH);
    const outside = await place.run(['latency', 'net.onnx', '--log', 'logs/log.yml']);
    assert.match(outside.stderr, /net\.onnx is outside of the log's folder.*write the log into a folder above it/);
    const given = await place.run(['latency', 'net.onnx', '--log', 'log.yml', '--input', 'x=1']);
    assert.match(given.stderr, /--log has no place for --input; write the values into a model manifest/);
  });

  it('has verdicts that its schema lists', () => {
    assert.deepEqual(reproductionSchema.shape.outputs.options, [...OUTPUT_VERDICTS]);
    assert.deepEqual(reproductionSchema.shape.performance.options, [...PERFORMANCE_VERDICTS]);
  });
});
