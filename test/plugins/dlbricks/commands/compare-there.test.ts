import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { EXIT_REFUSED } from '../../../../src/base/exit-codes.js';
import { comparisonSchema } from '../../../../plugins/dlbricks/compare/comparison-schema.js';
import { reportSchema } from '../../../../plugins/dlbricks/report/report-schema.js';
import { computeChecksum } from '../../../../src/reference-log/log-schema.js';
import { readLog } from '../../../../src/reference-log/read-log.js';
import { deadline, type Workplace } from '../../../cli/support/command.js';
import { AS_STORED, chain, ONCE, QUICK } from '../../../cli/support/tiny-models.js';
import { workplaceHere } from '../../../cli/support/workplace-here.js';

const RUN = ['dlbricks', 'run', 'net.onnx', ...QUICK, ...ONCE, ...AS_STORED];

async function documentOf(place: Workplace, args: readonly string[]) {
  const { stdout, stderr, code } = await place.run(['compare', ...args, '--export-json', '-']);
  assert.equal(code, 0, stderr);
  return comparisonSchema.parse(JSON.parse(stdout));
}

async function refusalOf(place: Workplace, args: readonly string[]): Promise<string> {
  const { stdout, stderr, code } = await place.run(['compare', ...args]);
  assert.deepEqual([stdout, code], ['', 2]);
  return stderr;
}

describe('compare of what is there', { ...deadline, concurrency: 1 }, () => {
  const undone: (() => unknown)[] = [];
  let place: Workplace;

  after(async () => {
    for (const undo of undone.reverse()) await undo();
  });

  before(async () => {
    place = await workplaceHere({ after: (undo) => undone.push(undo) });
    // Kernels of a microsecond may take less than the profile's own cost, and are not compared then.
    const dims = ['batch', 65536];
    await place.write('net.onnx', chain(['Relu', 'Sigmoid', 'Tanh'], dims));
    await place.write('other.onnx', chain(['Relu', 'Tanh'], dims));
    for (const threads of ['1', '2']) {
      const outputs = ['--log', `${threads}.yml`, '--export-json', `${threads}.json`];
      const { code, stderr } = await place.run([...RUN, '--threads', threads, ...outputs]);
      assert.equal(code, 0, stderr);
    }
  });

  it('takes two logs, and names the only aspect that differs', async () => {
    const { put_down_to: cause, models, aspects, ...rest } = await documentOf(place, ['1.yml', '2.yml']);
    // Relu, Sigmoid and Tanh, as the reports of the same runs have them.
    assert.deepEqual(rest.bricks, (await documentOf(place, ['1.json', '2.json'])).bricks);
    assert.deepEqual([rest.bricks.length, rest.unmatched_before_percent, rest.no_bricks_before], [3, 0, null]);
    assert.deepEqual([cause, aspects.length], ['threads', 1]);
    const [model] = models;
    assert.deepEqual([model?.model, model?.threads_before, model?.threads_after, model?.reason], ['net', 1, 2, null]);
    assert.ok((model?.ratio ?? 0) > 0);
  });

  it('says where a log has no bricks, and how it gets them', async () => {
    const log = await readLog(join(place.folder, '1.yml'));
    for (const model of log.achieved.flat()) delete model.bricks;
    log.checksums.achieved = computeChecksum(log.achieved);
    await place.write('older.yml', JSON.stringify(log));
    const { bricks, ...rest } = await documentOf(place, ['older.yml', '2.yml']);
    assert.deepEqual([bricks, rest.unmatched_before_percent, rest.no_bricks_after], [[], null, null]);
    const { stdout } = await place.run(['compare', 'older.yml', '2.yml']);
    assert.match(
      stdout,
      /bricks not compared: older\.yml is of a version that logged none; 'mlmodelscope dlbricks run --log'/,
    );
  });

  it('takes a log and a report of the same run', async () => {
    const { models, aspects } = await documentOf(place, ['1.yml', '1.json']);
    assert.deepEqual([models[0]?.model, models[0]?.ratio, aspects], ['net', 1, []]);
  });

  it('does not compare a latency of runs with an estimate', async () => {
    const { code } = await place.run([
      'latency',
      'net.onnx',
      ...QUICK,
      ...AS_STORED,
      ...'--threads 1 --log l.yml'.split(' '),
    ]);
    assert.equal(code, 0);
    const { models } = await documentOf(place, ['1.yml', 'l.yml']);
    assert.match(models[0]?.reason ?? '', /one is of the plugin dlbricks, the other of latency/);
    const { stdout } = await place.run(['compare', 'l.yml', 'l.yml']);
    assert.match(stdout, /^no verdict for net: times of the plugin latency have no interval;/m);
    assert.match(stdout, /^bricks not compared: /m);
    assert.doesNotMatch(stdout, /no brick in common/);
  });

  it('takes two systems of the store', async () => {
    const listed = await refusalOf(place, ['store#', 'store#']);
    assert.match(listed, /^store#: name a system by the beginning of its fingerprint; it has estimates of:/m);
    const [one = '', other = ''] = [...listed.matchAll(/^ {2}(store#[0-9a-f]{8})/gm)].map(([, text]) => text);
    const { aspects, models, bricks } = await documentOf(place, [one, other]);
    assert.deepEqual(bricks.map(({ operators }) => operators.join()).sort(), ['Relu', 'Sigmoid', 'Tanh']);
    assert.ok(bricks.every((brick) => brick.models[0]?.name === 'net' && brick.after_ms > 0));
    assert.deepEqual(
      aspects.map(({ aspect }) => aspect),
      ['threads'],
    );
    assert.equal(models[0]?.model, 'net');
  });

  it('says of a system of bricks that there is no estimate of it', async () => {
    const { stdout } = await place.run(['store', 'info', '--json']);
    const listed = await refusalOf(place, ['store#', 'store#']);
    const systems = [...stdout.matchAll(/"fingerprint": "([0-9a-f]{8})/g)].map(([, digits = '']) => digits);
    const ofBricks = systems.find((digits) => !listed.includes(digits)) ?? '';
    assert.match(
      await refusalOf(place, [`store#${ofBricks}`, '1.json']),
      /the store has measurements of system [0-9a-f]{8}, but no estimate of it .*; it has estimates of:\n {2}store#/,
    );
  });

  it('draws a picture', async () => {
    await documentOf(place, ['1.json', '2.json', '--export-svg', 'change.svg']);
    const svg = await readFile(join(place.folder, 'change.svg'), 'utf8');
    assert.match(svg, /^<svg .*<circle [^>]+><title>net: [+-]/s);
  });

  it('compares results with a baseline', async () => {
    const { before: first, after } = await documentOf(place, ['1.json', '--baseline', '2.json']);
    assert.deepEqual([first, after], ['2.json', '1.json']);
  });

  it('has a message for each mistake', async () => {
    const log = await readFile(join(place.folder, '1.yml'), 'utf8');
    await place.write('edited.yml', log.replace(/latency_ms: [\d.]+/, 'latency_ms: 1'));
    await place.write('newer.yml', log.replace('log/v1', 'log/v2'));
    const { code } = await place.run([...RUN.with(2, 'other.onnx'), '--threads', '1', '--log', 'other.yml']);
    assert.equal(code, 0);
    for (const [args, message] of [
      [['edited.yml', '1.yml'], /edited\.yml: achieved: edited after it was written/],
      [['newer.yml', '1.yml'], /newer\.yml:1:\d+: dlspec: expected "log\/v1", found "log\/v2"/],
      [['1.yml', 'other.yml'], /no model of the same name, .* in common; 1\.yml has: net; other\.yml has: other/],
      [
        ['store#00000000', '1.json'],
        /store#00000000: the store has no system 00000000; it has estimates of:\n {2}store#/,
      ],
      [['store#1', 'store#2', '--store', 'gone'], /gone.*not.*exist|no store/],
      [['1.json', '2.json', '--store', 'store'], /--store is for sides such as store#3fa9c2e1/],
      [['store#zz', '1.json'], /store#zz: the store has no system zz; it has estimates of:\n {2}store#/],
      [['1.json'], /name two sides, or one and --baseline FILE/],
      [['1.json', '--baseline', 'gone.json'], /gone\.json: not a readable report/],
    ] as const) {
      assert.match(await refusalOf(place, args), message);
    }
  });

  it('fails with a code of its own where two saved results are both slower than the baseline', async () => {
    const report = reportSchema.parse(JSON.parse(await readFile(join(place.folder, '1.json'), 'utf8')));
    const save = async (name: string, factor: number): Promise<void> => {
      const models = report.models.map((model) => {
        const ms = factor * (model.estimate_ms ?? NaN);
        return { ...model, estimate_ms: ms, estimate_low_ms: ms * 0.99, estimate_high_ms: ms * 1.01 };
      });
      await place.write(name, JSON.stringify({ ...report, models }));
    };
    await save('base.json', 1);
    await save('slow.json', 1.2);
    await save('slower.json', 1.3);
    await save('faster.json', 0.8);
    const gate = ['--baseline', 'base.json', '--fail-above', '5%'];
    const failed = await place.run(['compare', 'slow.json', 'slower.json', ...gate]);
    assert.equal(failed.code, EXIT_REFUSED, failed.stderr);
    assert.match(failed.stderr, /slower by more than 5 %: net\n/);
    // Slower once may be chance, and 20 % are allowed by the last.
    for (const args of [
      ['slow.json', 'faster.json', ...gate],
      ['slow.json', 'slower.json', ...gate.with(-1, '25%')],
    ]) {
      const { code, stderr } = await place.run(['compare', ...args]);
      assert.deepEqual([code, /^slower by more than/m.test(stderr)], [0, false], stderr);
    }
    const two = await place.run(['compare', 'base.json', 'slow.json', '--fail-above', '5%']);
    assert.equal(two.code, EXIT_REFUSED);
  });

  it('refuses a gate where software and something else differ', async () => {
    const report = await readFile(join(place.folder, '2.json'), 'utf8');
    await place.write('mixed.json', report.replaceAll(/("framework_version": )"[^"]*"/g, '$1"0.0.1"'));
    const message =
      /differ in software and in something else too \((threads, framework_version|framework_version, threads)\); .*, or add --any-machine/;
    assert.match(await refusalOf(place, ['1.json', 'mixed.json', '--fail-above', '5']), message);
    assert.equal((await documentOf(place, ['1.json', 'mixed.json'])).put_down_to, null);
  });

  it('refuses a baseline of another machine unless it is asked for', async () => {
    const report = await readFile(join(place.folder, '1.json'), 'utf8');
    const changed = report.replace(/("system": \{[^}]*"processor": )"[^"]*"/, '$1"another"');
    await place.write('another.json', changed);
    const args = ['1.json', '--baseline', 'another.json'];
    assert.match(
      await refusalOf(place, args),
      /--baseline: another\.json and 1\.json are from different machines \(processor\)/,
    );
    assert.equal((await documentOf(place, [...args, '--any-machine'])).models.length, 1);
  });
});
