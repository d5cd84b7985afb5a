import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type sendUnaryData, status } from '@grpc/grpc-js';
import { loadResultSchema } from '../../plugins/load/load-result.js';
import { PlatformError } from '../../src/base/errors.js';
import {
  GRPCInferenceServiceService,
  type ModelInferResponse,
  type ModelMetadataResponse,
} from '../../src/generated/inference/inference.js';
import { startAgent } from '../../src/agent/services/server.js';
import { createRpcServer } from '../../src/rpc/server.js';
import { predictionModels } from '../agent/support/prediction-models.js';
import { assertOfSchema } from '../schemas/validator.js';
import { workplace } from './support/command.js';
import { chain, FOUR_LAYERS, LAYER_CUT, ONCE, QUICK } from './support/tiny-models.js';
import { workplaceHere } from './support/workplace-here.js';

/** A server of the Open Inference Protocol with the model `net`. @returns its address for --deployment */
async function deployed(t: TestContext, answer: (callback: sendUnaryData<ModelInferResponse>) => void) {
  const server = createRpcServer();
  t.after(() => server.close(new PlatformError('unavailable', 'the test has ended')));
  const inputs = [{ name: 'x', datatype: 'FP32', shape: [-1n, 8n] }];
  const described = { name: 'net', versions: ['1'], platform: 'test', inputs, outputs: [] };
  const modelMetadata = (_: unknown, callback: sendUnaryData<ModelMetadataResponse>) => callback(null, described);
  const modelInfer = (_: unknown, callback: sendUnaryData<ModelInferResponse>) => answer(callback);
  server.addService(GRPCInferenceServiceService, { modelMetadata, modelInfer });
  return `oip://${await server.listen({ host: '127.0.0.1', port: 0 })}/net`;
}

describe('mlmodelscope load MODEL...', { timeout: 600_000, concurrency: 2 }, () => {
  it('measures a stream of queries, and writes tables, a picture, and every query', async (t) => {
    const place = await workplaceHere(t);
    await place.write('net.onnx', chain(FOUR_LAYERS));
    const args = 'load net.onnx --threads 1 --scenario server --rate 100,200 --queries 100'.split(' ');
    const pages = '--export-svg load.svg --export-html load.html'.split(' ');
    const files = ['--export-json', 'load.json', ...pages, '--samples', 'all.jsonl'];
    const { stdout, stderr, code } = await place.run([...args, ...files]);
    assert.ok(code === 0 || code === 3, stderr);
    assert.match(stdout, /│ model │ offered \(\/s\) │ achieved \(\/s\) │/);
    const document = JSON.parse(await readFile(join(place.folder, 'load.json'), 'utf8')) as unknown;
    assertOfSchema('load', document);
    const { rows } = loadResultSchema.parse(document);
    assert.deepEqual(
      rows.map(({ measured }) => [measured?.queries, measured?.failed, measured?.ended]),
      [
        [100, 0, 'complete'],
        [100, 0, 'complete'],
      ],
    );
    const lines = (await readFile(join(place.folder, 'all.jsonl'), 'utf8')).trimEnd().split('\n');
    assert.equal(lines.length, 200);
    const first = JSON.parse(lines[0] ?? '') as Record<string, number>;
    assert.ok(Number.isInteger(first['scheduled_us']) && (first['finished_us'] ?? 0) > (first['started_us'] ?? 0));
    assert.match(await readFile(join(place.folder, 'load.svg'), 'utf8'), /Latency over the rate/);
    assert.match(await readFile(join(place.folder, 'load.html'), 'utf8'), /net under load \(server\)/);
  });

  it('writes every query to standard output where asked, and nothing else there', async (t) => {
    const place = await workplaceHere(t);
    await place.write('net.onnx', chain(FOUR_LAYERS));
    const args = ['load', 'net.onnx', '--threads', '1', '--queries', '5', '--samples'];
    const { stdout, stderr } = await place.run([...args, '-']);
    const outcomes = stdout
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { outcome: string }).outcome);
    assert.deepEqual(outcomes, Array(5).fill('answered'));
    assert.match(stderr, /│ model │/);
    for (const [samples, json, message] of [
      ['-', '-', /only one export can go to standard output; name another file/],
      ['all.json', './all.json', /only one export can go to .*all\.json; name another file/],
    ] as const) {
      const refused = await place.run([...args, samples, '--export-json', json]);
      assert.equal(refused.code, 2);
      assert.match(refused.stderr, message);
    }
  });

  it('predicts from stored estimates without running the model, and says what is missing', async (t) => {
    const place = await workplaceHere(t);
    await place.write('net.onnx', chain(FOUR_LAYERS));
    const args = ['load', 'net.onnx', '--threads', '1', '--scenario', 'batch', '--batch', '1,2,4', '--predict'];
    const level = ['--optimization-level', 'basic'];
    const elsewhere = await place.run([...args, ...level, '--store', 'my store']);
    assert.match(
      elsewhere.stderr,
      /'mlmodelscope dlbricks run net\.onnx --batch 1,2,4 --threads 1 --store 'my store' --optimization-level basic'/,
    );
    const search = ['--scenario', 'server', '--bound', '1s@p90', '--predict'];
    const unknown = await place.run(['load', 'net.onnx', '--threads', '1', ...search]);
    assert.equal(unknown.code, 3);
    assert.match(unknown.stdout.replaceAll(/\s+/g, ' '), /within 1s@p90: no prediction: the store has no complete/);
    const before = await place.run(args);
    assert.equal(before.code, 3);
    assert.match(
      before.stderr,
      /no complete estimate for batches of 1,2,4 on this system; 'mlmodelscope dlbricks run net\.onnx --batch 1,2,4 --threads 1' makes it/,
    );
    await place.run([...'dlbricks run net.onnx --threads 1 --batch 1,2,4'.split(' '), ...LAYER_CUT, ...QUICK, ...ONCE]);
    const after = await place.run([...args, '--export-json', '-']);
    const { rows, batches, overheads } = loadResultSchema.parse(JSON.parse(after.stdout));
    assert.equal(after.code, 0, after.stderr);
    assert.ok(rows.every(({ measured, predicted }) => measured === null && predicted?.value != null));
    assert.equal(batches[0]?.measured, null);
    assert.ok(batches[0].predicted?.a_ms !== null);
    assert.ok(batches[0].predicted?.b_low_ms !== null);
    const [added] = overheads;
    assert.ok(added && added.handover_ms > 0 && added.run_ms > 0 && added.pauses.length === 4);
  });

  it('puts a prediction beside a deployment, and says what it leaves out', async (t) => {
    const deployment = await deployed(t, (callback) => callback(null, { modelName: 'net', modelVersion: '1', id: '' }));
    const place = await workplaceHere(t);
    await place.write('net.onnx', chain(FOUR_LAYERS));
    await place.run(['dlbricks', 'run', 'net.onnx', '--threads', '1', ...LAYER_CUT, ...QUICK, ...ONCE]);
    const asked = ['--threads', '1', '--deployment', deployment, '--validate', '--queries', '60'];
    const args = ['load', 'net.onnx', ...asked, '--export-json', 'load.json'];
    const { stdout, stderr } = await place.run(args);
    assert.match(stdout, /measured at oip:.*predictions contain the runs of the model on this system/, stderr);
    assert.match(
      stdout.replaceAll(/\s+/g, ' '),
      /nothing of calls of the server, its own batches, and other work there/,
    );
    const { rows, overheads, settings } = loadResultSchema.parse(
      JSON.parse(await readFile(join(place.folder, 'load.json'), 'utf8')),
    );
    assert.equal(settings.deployment, deployment);
    assert.deepEqual([overheads, rows[0]?.measured?.queries, rows[0]?.measured?.service_mean_ms], [[], 60, null]);
    assert.ok(rows[0]?.predicted?.value?.p50_ms != null);
  });

  it('names the system of an agent of this platform that has the model', async (t) => {
    const agent = await startAgent({ framework: 'onnxruntime-web', resolveModel: predictionModels() });
    t.after(() => agent.close());
    const place = await workplaceHere(t);
    await place.write('net.onnx', chain(FOUR_LAYERS));
    const args = ['load', 'net.onnx', '--deployment', `predict://${agent.address}/relu`, '--queries', '10'];
    const { stdout, stderr } = await place.run([...args, '--validate', '--export-json', '-']);
    const { rows, system } = loadResultSchema.parse(JSON.parse(stdout));
    assert.deepEqual([rows[0]?.measured?.failed, system.framework], [0, 'onnxruntime-web']);
    assert.match(stderr, new RegExp(`'mlmodelscope dlbricks run net\\.onnx .* --agent ${agent.address}' makes it`));
  });

  it('says why queries failed', async (t) => {
    const deployment = await deployed(t, (callback) => callback({ code: status.INTERNAL, details: 'out of memory' }));
    const place = await workplaceHere(t);
    await place.write('net.onnx', chain(FOUR_LAYERS));
    const args = ['load', 'net.onnx', '--threads', String(availableParallelism()), '--deployment', deployment];
    const single = await place.run([...args, '--queries', '10']);
    assert.equal(single.code, 3);
    assert.match(single.stdout.replaceAll(/\s+/g, ' '), /net: 10 of 10 queries failed.*the first one: .*out of memory/);
    // The server's model may run anywhere.
    assert.doesNotMatch(single.stdout, /the generator takes time from it/);
    const search = await place.run([...args, '--scenario', 'server', '--bound', '1s@p90']);
    assert.match(search.stderr, /net answers no queries: .*out of memory/);
  });

  it('says how long a search takes before it starts, and refuses one that takes too long', async (t) => {
    let answerMs = 10;
    const answered = { modelName: 'net', modelVersion: '1', id: '' };
    const deployment = await deployed(t, (callback) => setTimeout(() => callback(null, answered), answerMs));
    const place = await workplace(t);
    await place.write('net.onnx', chain(FOUR_LAYERS));
    const model = ['load', 'net.onnx', '--threads', '1', '--deployment', deployment];
    const args = [...model, '--scenario', 'server', '--bound', '5s@p99.9'];
    const command = place.start(args, { ownGroup: true });
    await command.said(/note: net: the trials \(a search has some 15\) take about \d+ min; each has 20\d{3} queries/);
    process.kill(-command.pid, 'SIGINT');
    assert.equal((await command.ended).code, 130);
    answerMs = 400;
    const refused = await place.run(args);
    assert.match(refused.stderr, /take about \d{4} min; .* fewer queries \(--queries\) take less; 720 min is the most/);
  });

  it('says for every scenario whether a bound holds, and where too few queries show it', async (t) => {
    const place = await workplaceHere(t);
    await place.write('net.onnx', chain(FOUR_LAYERS));
    const args = ['load', 'net.onnx', '--threads', '1', '--bound'];
    assert.match((await place.run([...args, '1s@p90'])).stdout, /net, 1s@p90: measured: holds/);
    const few = await place.run([...args, '1s@p90', '--queries', '20']);
    assert.match(few.stdout, /measured: not known whether it holds/);
    const search = await place.run([...args, '1s@p90', '--scenario', 'server', '--queries', '20']);
    assert.equal(search.code, 2);
    assert.match(search.stderr, /a trial of a search needs at least 44 queries to show 1s@p90/);
  });

  it('sweeps batches and clients', async (t) => {
    const place = await workplaceHere(t);
    await place.write('net.onnx', chain(FOUR_LAYERS));
    const sweep = ['load', 'net.onnx', '--threads', '1', '--scenario', 'batch', '--batch', '1,2', '--queries', '10'];
    const { stdout } = await place.run([...sweep, '--export-json', '-']);
    const { rows, batches } = loadResultSchema.parse(JSON.parse(stdout));
    assert.deepEqual(
      rows.map(({ measured }) => measured?.mean_batch),
      [1, 2],
    );
    assert.ok(batches[0]?.measured?.b_ms !== null);
    const clients = 'load net.onnx --threads 1 --scenario clients --clients 1,3 --queries 30'.split(' ');
    const ofClients = loadResultSchema.parse(JSON.parse((await place.run([...clients, '--export-json', '-'])).stdout));
    assert.deepEqual(
      ofClients.rows.map((row) => [row.clients, row.measured?.longest_queue]),
      [
        [1, 1],
        [3, 3],
      ],
    );
  });

  it('replays arrivals of a file, and refuses one that is empty or unsorted', async (t) => {
    const place = await workplaceHere(t);
    await place.write('net.onnx', chain(FOUR_LAYERS));
    await place.write('arrivals.csv', '\ufeffms,batch\n0,1\n10,2\n20,1\n');
    const args = ['load', 'net.onnx', '--threads', '1', '--scenario', 'replay', '--arrivals'];
    const { rows } = loadResultSchema.parse(
      JSON.parse((await place.run([...args, 'arrivals.csv', '--scale', '2', '--export-json', '-'])).stdout),
    );
    assert.deepEqual([rows[0]?.samples, rows[0]?.offered_per_second, rows[0]?.measured?.queries], [[1, 2], 50, 3]);
    for (const [name, content, message] of [
      ['empty.csv', '', /empty\.csv: expected at least two arrivals/],
      ['unsorted.csv', '5\n1\n', /unsorted\.csv, line 2: 1 ms is before the line above/],
      ['words.csv', '1\ntwo\n', /words\.csv, line 2: expected ms or ms,batch/],
      ['negative.csv', '-5\n3\n', /negative\.csv, line 1: expected ms or ms,batch/],
      ['nan.csv', 'NaN\n1\n2\n', /nan\.csv, line 1: expected ms or ms,batch/],
      ['infinite.csv', `1\n${'9'.repeat(400)}\n`, /infinite\.csv, line 2: expected ms or ms,batch/],
      ['none.csv', '1,1\n2,0\n', /none\.csv, line 2: expected a batch of a whole number from 1 to 1024, found 0/],
      ['many.csv', '1,9999\n2,1\n', /many\.csv, line 1: expected a batch of .*, found 9999/],
    ] as const) {
      await place.write(name, content);
      const { stderr, code } = await place.run([...args, name]);
      assert.equal(code, 2);
      assert.match(stderr, message);
    }
  });

  it('refuses bad input, each with its own message', async (t) => {
    const place = await workplaceHere(t);
    await place.write('net.onnx', chain(FOUR_LAYERS));
    await place.write('fixed.onnx', chain(FOUR_LAYERS, [1, 8]));
    for (const [args, message] of [
      [['net.onnx', '--scenario', 'server', '--rate', '0'], /expected a number above 0/],
      [['net.onnx', '--scenario', 'server'], /needs rates \(--rate 50,100\), or a bound/],
      [['net.onnx', '--bound', '20'], /as in 20ms@p99/],
      [['net.onnx', '--predict', '--samples', 'all.jsonl'], /a prediction has no queries to write \(--samples\)/],
      [['net.onnx', '--clients', '4'], /the scenario single does not use clients \(--clients\) here/],
      [
        ['net.onnx', '--dispatch', 'queue'],
        /does not use dispatch \(--dispatch\) here; it is for a load of several agents/,
      ],
      [
        ['fixed.onnx', '--scenario', 'server', '--rate', '5', '--batch-limit', '2', '--queries', '10'],
        /fixed has a fixed batch of 1, so it cannot run a batch of 2/,
      ],
      [
        ['net.onnx', '--scenario', 'server', '--bound', '0.0001ms@p90'],
        /so no rate holds the bound of 0\.0001 ms; choose a larger bound/,
      ],
      [
        ['net.onnx', '--scenario', 'clients', '--clients', '2', '--batch-limit', '2', '--deployment', 'oip://x:1/y'],
        /does not use batch_limit \(--batch-limit\) here; .* the server of --deployment makes its own/,
      ],
      [
        ['--scenario', 'server', '--rate', '1', '--predict', '--generation', 'none.json', '--batch', '2'],
        /does not use batches \(--batch\) here; it is for models, not for generated texts/,
      ],
      [
        ['--scenario', 'server', '--rate', '1', '--generation', 'none.json', '--deployment', 'oip://x:1/y'],
        /generated texts are sent to no server \(--deployment\)/,
      ],
      [['net.onnx', '--agent', 'x:1', '--agents', 'x:1,y:1'], /exclude each other; name all agents in --agents/],
      [['net.onnx', '--scenario', 'replay', '--arrivals', 'none.csv'], /found no such file; name one \(--arrivals\)/],
      [['net.onnx', '--deployment', 'http://x/y'], /expected oip:\/\/HOST:PORT\/MODEL/],
      [['net.onnx', '--deployment', 'oip://x:1,y/z'], /expected oip:\/\/HOST:PORT\/MODEL/],
      [['net.onnx', '--scenario', 'clients'], /the scenario clients needs numbers of clients \(--clients 1,2,4\)/],
      [
        ['net.onnx', '--scenario', 'server', '--rate', '1', '--batch-limit', '65'],
        /^runs of 65 sizes can occur, and 64 models can be open/,
      ],
    ] as const) {
      const { stderr, code } = await place.run(['load', ...args, '--threads', '1']);
      assert.notEqual(code, 0, args.join(' '));
      assert.match(stderr, message);
    }
  });

  it('divides one stream among several agents', async (t) => {
    const place = await workplaceHere(t);
    await place.write('net.onnx', chain(FOUR_LAYERS));
    // Each on a machine of its own, as far as turns go.
    const agents = ['one', 'other'].map((name) => {
      return place.start(['agent', '--listen', '127.0.0.1:0'], {
        env: { MLMODELSCOPE_TURN_GROUP: `${place.folder} ${name}` },
      });
    });
    const addresses: string[] = [];
    for (const agent of agents) addresses.push((await agent.said(/listening on (\S+)/))[1] ?? '');
    for (const dispatch of ['turns', 'random', 'queue']) {
      const at = ['--agents', addresses.join(','), '--dispatch', dispatch];
      const args = ['load', 'net.onnx', '--threads', '1', '--scenario', 'server', '--rate', '100', '--queries', '60'];
      const { stdout, stderr } = await place.run([...args, ...at, '--samples', 'all.jsonl', '--export-json', '-']);
      assert.notEqual(stdout, '', stderr);
      const { agents: count, rows } = loadResultSchema.parse(JSON.parse(stdout));
      assert.deepEqual([count, rows[0]?.measured?.queries], [2, 60]);
      const lines = (await readFile(join(place.folder, 'all.jsonl'), 'utf8')).trimEnd().split('\n');
      assert.deepEqual(new Set(lines.map((line) => (JSON.parse(line) as { agent: number }).agent)), new Set([0, 1]));
    }
  });

  it('shows the trials that were done after Ctrl-C', async (t) => {
    const place = await workplace(t);
    await place.write('net.onnx', chain(FOUR_LAYERS));
    const args = ['load', 'net.onnx', '--threads', '1', '--scenario', 'server', '--rate', '200,1', '--queries', '100'];
    const command = place.start(args, { ownGroup: true });
    await command.said(/note: net, \d+(\.\d+)?\/s: /);
    // To the whole group, as a terminal sends it.
    process.kill(-command.pid, 'SIGINT');
    const { stdout, stderr, code } = await command.ended;
    assert.equal(code, 130, stderr);
    assert.match(stdout, /│ net +│ +[12]\d\d/);
    assert.match(stderr, /interrupted; the trials that were done are above/);
  });

  it('runs as an evaluation', async (t) => {
    const place = await workplaceHere(t);
    await place.write('net.onnx', chain(FOUR_LAYERS));
    const checksum = createHash('sha256').update(chain(FOUR_LAYERS)).digest('hex');
    const tensor = '[{ layer_name: x, element_type: float32, dimensions: [batch, 8] }]';
    const model = ['dlspec: model/v1', 'name: net', 'version: 1.0.0', "framework: { name: onnxruntime, version: '*' }"];
    const io = [`inputs: ${tensor}`, `outputs: ${tensor.replace('x', 'y')}`];
    await place.write(
      'net.yml',
      [...model, `model: { graph_path: net.onnx, checksum: ${checksum} }`, ...io, ''].join('\n'),
    );
    const settings = 'settings: { scenario: server, rates: [100], queries: 50, batch_limit: 2 }';
    const manifest = ['dlspec: evaluation/v1', 'name: load', 'version: 1.0.0', 'plugin: load', 'models: [net.yml]'];
    await place.write('load.yml', [...manifest, 'threads: 1', settings, ''].join('\n'));
    const { stdout, stderr } = await place.run(['evaluate', 'load.yml', '--export-json', '-']);
    assert.notEqual(stdout, '', stderr);
    const { rows, provenance } = loadResultSchema.parse(JSON.parse(stdout));
    assert.deepEqual([rows[0]?.batch_limit, rows[0]?.measured?.queries], [2, 50]);
    assert.equal(provenance?.manifests[0]?.kind, 'evaluation');
    await place.write('other.yml', [...manifest, 'settings: { scenario: single, clients: [4] }', ''].join('\n'));
    const refused = await place.run(['evaluate', 'other.yml']);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /the scenario single does not use clients \(--clients\) here/);
  });
});
