import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { latencyResultSchema } from '../../plugins/latency/latency-result.js';
import { deadline } from './support/command.js';
import { AS_STORED, chain, decoderStep, FOUR_LAYERS, QUICK } from './support/tiny-models.js';
import { workplaceHere } from './support/workplace-here.js';

describe('mlmodelscope latency MODEL...', { ...deadline, concurrency: 2 }, () => {
  it('times each model with each batch and number of threads, and shows percentiles in one table', async (t) => {
    const place = await workplaceHere(t);
    await place.write('four.onnx', chain(FOUR_LAYERS));
    await place.write('two.onnx', chain(['Relu', 'Exp']));
    const sweep = ['--batch', '1,2', '--threads', '1,2', '--percentiles', '50,60'];
    const args = ['latency', 'four.onnx', 'two.onnx', ...sweep, ...QUICK, ...AS_STORED];
    const { stdout, stderr, code } = await place.run(args);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^whole models: 8 to time, 0 known already$/m);
    assert.match(stdout, /│ model │ batch │ threads │ runs │ p50 \(ms\) │ p60 \(ms\) │/);
    const rows = [...stdout.matchAll(/^│ (four|two) +│ +(\d) │ +(\d) │ +3 │ +[\d.]+ │ +[\d.]+ │$/gm)];
    const of = (name: string): string[] => [`${name} 1 1`, `${name} 1 2`, `${name} 2 1`, `${name} 2 2`];
    assert.deepEqual(
      rows.map(([, ...cells]) => cells.join(' ')),
      [...of('four'), ...of('two')],
    );
    const again = await place.run([...args, '--export-json', '-']);
    assert.match(again.stderr, /^whole models: 0 to time, 8 known already$/m);
    const { models } = latencyResultSchema.parse(JSON.parse(again.stdout));
    assert.deepEqual(
      models.map(({ model, batch, threads }) => `${model} ${batch} ${threads}`),
      [...of('four'), ...of('two')],
    );
  });

  it('times each model with each combination of settings, and refuses keys of a session that it does not know', async (t) => {
    const place = await workplaceHere(t);
    await place.write('four.onnx', chain(FOUR_LAYERS));
    const settings = ['--optimization-level', 'basic,all', '--session', 'session.disable_prepacking=1'];
    const args = ['latency', 'four.onnx', ...settings, ...QUICK, ...AS_STORED];
    const { stdout, stderr, code } = await place.run([...args, '--export-json', '-']);
    assert.equal(code, 0, stderr);
    const { models } = latencyResultSchema.parse(JSON.parse(stdout));
    assert.deepEqual(
      models.map((row) => row.settings),
      ['optimizer basic, session.disable_prepacking=1', 'session.disable_prepacking=1'],
    );
    assert.equal(new Set(models.map((row) => ('reason' in row ? '' : row.system))).size, 2);
    const unknown = await place.run(['latency', 'four.onnx', '--session', 'session.load=1']);
    assert.equal(unknown.code, 2);
    assert.match(unknown.stderr, /unknown key session\.load; known keys: .*enableMemPattern/);
    const idle = await place.run(['latency', 'four.onnx', '--inter-op-threads', '2', ...QUICK, ...AS_STORED]);
    assert.match(idle.stderr, /inter_op_threads 2 changes nothing/);
  });

  it('exports CSV and Markdown with batch, threads and system in every row', async (t) => {
    const place = await workplaceHere(t);
    await place.write('four.onnx', chain(FOUR_LAYERS));
    const args = ['latency', 'four.onnx', '--batch', '2', ...QUICK, ...AS_STORED];
    const csv = await place.run([...args, '--export-csv', '-']);
    const [header, row] = csv.stdout.split('\r\n');
    assert.match(header ?? '', /^model,batch,threads,system,runs,.*p50_ms,p90_ms,p95_ms,/);
    assert.match(row ?? '', /^four,2,1,[0-9a-f]{64},3,/);
    const markdown = await place.run([...args, '--export-markdown', '-']);
    assert.match(markdown.stdout, /^\| four \| 2 \| 1 \| 3 \|/m);
  });

  it('says of when stored results are, and times them anew with --fresh', async (t) => {
    const place = await workplaceHere(t);
    await place.write('four.onnx', chain(FOUR_LAYERS));
    const args = ['latency', 'four.onnx', ...QUICK];
    const timed = async (...more: readonly string[]) => {
      const { stdout, stderr, code } = await place.run([...args, '--export-json', '-', ...more]);
      assert.equal(code, 0, stderr);
      const [row] = latencyResultSchema.parse(JSON.parse(stdout)).models;
      assert.ok(row !== undefined && !('reason' in row));
      return { row, stderr };
    };
    const first = await timed(...AS_STORED);
    const again = await timed(...AS_STORED);
    const fresh = await timed('--fresh');
    assert.deepEqual(
      [first, again, fresh].map(({ row }) => row.is_stored),
      [false, true, false],
    );
    assert.equal(again.row.measured_at, first.row.measured_at);
    assert.notEqual(fresh.row.measured_at, first.row.measured_at);
    assert.match(again.stderr, /^results from the store, timed on \d{4}-\d\d-\d\d \d\d:\d\d UTC; --fresh/m);
    for (const { stderr } of [first, fresh]) assert.doesNotMatch(stderr, /timed on/);
    const both = await place.run([...args, '--fresh', ...AS_STORED]);
    assert.deepEqual([both.code, both.stdout], [2, '']);
    assert.match(both.stderr, /leave one of the two out/);
  });

  it('takes lists of sizes of dimensions, and shows the tokens per second of decoders', async (t) => {
    const place = await workplaceHere(t);
    await place.write('step.onnx', decoderStep());
    await place.write('four.onnx', chain(FOUR_LAYERS));
    const sizes = ['--dimension', 'past=16,32', '--batch', '1,2'];
    const args = ['step.onnx', 'four.onnx', ...sizes, ...QUICK, ...AS_STORED];
    const timed = await place.run(['latency', ...args, '--export-json', '-']);
    assert.equal(timed.code, 0, timed.stderr);
    const { models } = latencyResultSchema.parse(JSON.parse(timed.stdout));
    assert.deepEqual(
      models.map(({ model, batch, dimensions }) => [model, batch, dimensions].join(' ').trimEnd()),
      ['step 1 past=16', 'step 1 past=32', 'step 2 past=16', 'step 2 past=32', 'four 1', 'four 2'],
    );
    for (const row of models) {
      assert.ok(!('reason' in row));
      const perSecond = row.model === 'step' ? (row.batch * 1000) / row.trimmed_mean_ms : null;
      assert.equal(row.tokens_per_second, perSecond);
    }
    assert.match(timed.stderr, /│ dimensions │.*│ tokens\/s │/);
    const estimated = await place.run(['dlbricks', 'run', ...args, '--export-csv', '-']);
    assert.equal(estimated.code, 0, estimated.stderr);
    assert.match(estimated.stderr, /│ step +│ +2 │ +1 │ past=32 +│/);
    const [header = '', ...rows] = estimated.stdout.trimEnd().split('\r\n');
    assert.match(header, /,batch,dimensions,tokens_per_second,settings,throughput_per_second,predicted_percent$/);
    assert.equal(rows.length, 6);
    const several = await place.run(['dlbricks', 'share', 'step.onnx', '--dimension', 'past=16,32']);
    assert.deepEqual([several.code, several.stdout], [2, '']);
  });

  it('refuses a batch that does not fit into memory before it measures, and names one that does', async (t) => {
    const place = await workplaceHere(t);
    await place.write('large.onnx', chain(['Relu', 'Tanh'], ['batch', 2 ** 20]));
    for (const args of [
      ['latency', 'large.onnx', '--batch', '1,65536', ...QUICK],
      ['dlbricks', 'run', 'large.onnx', '--batch', '1,65536', ...QUICK],
    ]) {
      const { stdout, stderr, code } = await place.run(args);
      const advice =
        /at least 0\.00 GB of weights and \d+\.\d\d GB of activations at batch 65536, .*; --batch (\d+) fits/;
      const fitting = Number(advice.exec(stderr)?.[1]);
      assert.ok(fitting >= 1 && fitting < 65536, stderr);
      assert.match(stdout, /│ large[^│]*│ +1 │.* \d+\.\d+/);
      assert.equal(code, 3);
    }
  });

  it('continues without a model that cannot be run, and says so', async (t) => {
    const place = await workplaceHere(t);
    await place.write('four.onnx', chain(FOUR_LAYERS));
    await place.write('broken.onnx', chain(['Relu', 'no.runtime:Mystery']));
    const { stdout, code } = await place.run(['latency', 'broken.onnx', 'four.onnx', ...QUICK]);
    assert.equal(code, 3);
    assert.match(stdout, /│ four +│ +1 │ +1 │ +3 │/);
    assert.match(stdout, /^broken, batch 1, threads 1: unsupported: .*Mystery/m);
  });
});
