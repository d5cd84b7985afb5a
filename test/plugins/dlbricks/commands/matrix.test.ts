import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { reportsSchema } from '../../../../plugins/dlbricks/report/report-schema.js';
import { readLog } from '../../../../src/reference-log/read-log.js';
import { reproductionSchema } from '../../../../src/reference-log/reproduction-schema.js';
import { deadline, type Workplace } from '../../../cli/support/command.js';
import { chain, TINY_EVALUATION } from '../../../cli/support/tiny-models.js';
import { workplaceHere } from '../../../cli/support/workplace-here.js';

const NET = chain(['Relu', 'Sigmoid', 'Relu']);

async function placeWith(t: Parameters<typeof workplaceHere>[0], change: object): Promise<Workplace> {
  const place = await workplaceHere(t);
  await place.write('net.onnx', NET);
  await place.write('matrix.yml', JSON.stringify({ ...TINY_EVALUATION, ...change }));
  return place;
}

async function cellsOf(place: Workplace, args: readonly string[]) {
  const { stdout, stderr, code } = await place.run([...args, '--export-json', '-']);
  assert.equal(code, 0, stderr);
  const { reports } = reportsSchema.parse(JSON.parse(stdout));
  const cells = reports.map(({ settings, system }) => [
    settings.batch,
    system.threads,
    settings.cut,
    system.optimization_level,
  ]);
  return { cells, stderr };
}

const MATRIX = { batch_size: [1, 2], threads: [1, 2] };

describe('the matrix of an evaluation', { ...deadline, concurrency: 1 }, () => {
  it('is measured in one run, and each brick once', async (t) => {
    const place = await placeWith(t, { matrix: MATRIX });
    const { cells } = await cellsOf(place, ['dlbricks', 'run', 'matrix.yml']);
    assert.deepEqual(cells, [
      [1, 1, 'layer', 'all'],
      [1, 2, 'layer', 'all'],
      [2, 1, 'layer', 'all'],
      [2, 2, 'layer', 'all'],
    ]);
    // Relu and Sigmoid of two sizes, with two numbers of threads.
    const { stdout } = await place.run(['store', 'info', '--json']);
    assert.deepEqual(stdout.match(/(?<="measurements": )\d+/g), ['4', '4']);
  });

  it('gives way to lists of the command line', async (t) => {
    const place = await placeWith(t, { matrix: MATRIX });
    const { cells } = await cellsOf(place, ['dlbricks', 'run', 'matrix.yml', '--batch', '4,8', '--threads', '1']);
    assert.deepEqual(
      cells.map(([batch, threads]) => [batch, threads]),
      [
        [4, 1],
        [8, 1],
      ],
    );
  });

  it('is the same for evaluate', async (t) => {
    const place = await placeWith(t, { matrix: { ...MATRIX, threads: [1] } });
    const { cells } = await cellsOf(place, ['evaluate', 'matrix.yml']);
    assert.deepEqual(
      cells.map(([batch]) => batch),
      [1, 2],
    );
    const { stdout } = await place.run(['evaluate', 'matrix.yml']);
    assert.equal(stdout.match(/│ net /g)?.length, 2, stdout);
    assert.match(stdout, /best throughput: batch/);
  });

  it('can have cuts, as a sweep', async (t) => {
    const place = await placeWith(t, {
      matrix: { cut: ['layer', 'kernel'] },
      settings: { remeasure: 'none', repeat_limit: 0, target_error: 3 },
    });
    const { cells } = await cellsOf(place, ['dlbricks', 'run', 'matrix.yml']);
    assert.deepEqual(
      cells.map(([, , cut]) => cut),
      ['layer', 'kernel'],
    );
    const { stdout } = await place.run(['dlbricks', 'sweep', 'matrix.yml']);
    assert.match(stdout, /layer[\s\S]*kernel/);
  });

  it('can have sizes of dimensions and keys of a session', async (t) => {
    const key = 'session.disable_prepacking';
    const matrix = { dimensions: { seq: [4, 8] }, session: { [key]: [0, 1] } };
    const place = await placeWith(t, { models: ['net.onnx', 'fixed.onnx'], matrix });
    await place.write('net.onnx', chain(['Relu', 'Sigmoid'], ['batch', 'seq']));
    await place.write('fixed.onnx', chain(['Tanh']));
    const rowsOf = async (args: readonly string[]) => {
      const { stdout, stderr, code } = await place.run([...args, '--export-json', '-']);
      assert.equal(code, 0, stderr);
      return reportsSchema.parse(JSON.parse(stdout)).reports.flatMap(({ models, system }) =>
        models.map(({ name, dimensions }) => {
          const size = dimensions.find((one) => one.name === 'seq')?.size;
          return [name, size, system.session.join(), ...(name === 'net' ? [] : [dimensions.length])].join(' ');
        }),
      );
    };
    const all = [`net 4 ${key}=0`, `fixed  ${key}=0 1`, `net 4 ${key}=1`, `fixed  ${key}=1 1`];
    const rows = [...all, `net 8 ${key}=0`, `net 8 ${key}=1`];
    assert.deepEqual(await rowsOf(['dlbricks', 'run', 'matrix.yml']), rows);
    assert.deepEqual(await rowsOf(['evaluate', 'matrix.yml']), rows);
    const asked = ['--dimension', 'seq=2,3', '--session', `${key}=1`];
    assert.deepEqual(await rowsOf(['dlbricks', 'run', 'matrix.yml', ...asked]), [
      `net 2 ${key}=1`,
      `fixed  ${key}=1 1`,
      `net 3 ${key}=1`,
    ]);
    const shown = await place.run(['evaluate', 'matrix.yml']);
    assert.match(shown.stdout, /seq=8/);
  });

  it('refuses a dimension that no model has, and a key that sessions do not take', async (t) => {
    const place = await placeWith(t, { matrix: { dimensions: { length: [4] } } });
    for (const args of [
      ['dlbricks', 'run', 'matrix.yml'],
      ['evaluate', 'matrix.yml'],
    ]) {
      const { code, stderr } = await place.run(args);
      assert.equal(code, 2, stderr);
      assert.match(
        stderr,
        /matrix\.dimensions\.length: none of the models has a dimension of this name; they have batch/,
      );
    }
    const matrix = { dimensions: { batch: [1] }, session: { 'session.unknown': [1] } };
    await place.write('matrix.yml', JSON.stringify({ ...TINY_EVALUATION, matrix }));
    const { stderr } = await place.run(['dlbricks', 'run', 'matrix.yml']);
    assert.match(stderr, /matrix\.dimensions: .*batch belongs under batch_size/);
    assert.match(stderr, /matrix\.session\.session\.unknown|session\.unknown/);
  });

  it('has a log that is reproduced cell by cell', async (t) => {
    const place = await placeWith(t, { matrix: { batch_size: [1, 2], dimensions: { seq: [4, 8] } } });
    await place.write('net.onnx', chain(['Relu', 'Sigmoid'], ['batch', 'seq']));
    const { code, stderr } = await place.run('evaluate matrix.yml --log log.yml --export-json out.json'.split(' '));
    assert.equal(code, 0, stderr);
    const log = await readLog(place.path('log.yml'));
    const { reports } = reportsSchema.parse(JSON.parse(await readFile(place.path('out.json'), 'utf8')));
    assert.deepEqual(
      log.achieved.map(([model]) => [
        model?.latency_ms,
        model?.bricks?.map(({ signature }) => signature),
        model?.dimensions,
        model?.outputs?.[0]?.dims,
      ]),
      reports.map(({ models: [model] }) => [
        model?.estimate_ms,
        model?.bricks.map(({ signature }) => signature),
        model?.dimensions,
        model?.dimensions.map(({ size }) => size),
      ]),
    );
    const again = await place.run(['reproduce', 'log.yml', '--processes', '2', '--export-json', '-']);
    const { outputs, models } = reproductionSchema.parse(JSON.parse(again.stdout));
    assert.deepEqual(
      [outputs, models.map(({ batch, outputs }) => `${batch} ${outputs}`).join()],
      ['same', '1 same,1 same,2 same,2 same'],
    );
  });

  it('says which settings change nothing, and not of those that do', async (t) => {
    const settings = { remeasure: 'none', repeat_limit: 0 };
    // The optimizer removes the identity, unless it is off.
    const place = await placeWith(t, { matrix: { optimization_level: ['disabled', 'extended'] }, settings });
    await place.write('net.onnx', chain(['Relu', 'Identity', 'Sigmoid']));
    const { stdout, stderr } = await place.run(['dlbricks', 'run', 'matrix.yml', '--export-json', '-']);
    const { reports } = reportsSchema.parse(JSON.parse(stdout));
    const said = reports.map(({ warnings }) => warnings.filter(({ cause }) => cause === 'settings'));
    const message = 'optimizer extended: the optimizer makes the same kernels as by default of net';
    assert.deepEqual(said, [[], [{ cause: 'settings', message }]]);
    assert.match(stderr, /optimizer extended: the optimizer makes the same kernels as by default of net/);
    assert.doesNotMatch(stderr, /optimizer off: the optimizer makes the same/);
  });

  it('is refused with its place where it has mistakes, or the plugin has none', async (t) => {
    const place = await placeWith(t, { matrix: { batch_size: [], thread: [1] } });
    const { code, stderr } = await place.run(['dlbricks', 'run', 'matrix.yml']);
    assert.equal(code, 2);
    assert.match(stderr, /matrix\.batch_size: expected a list of at least 1 item/);
    assert.match(stderr, /matrix\.thread: .*"threads"/);
    const { models, protocol, dlspec, name, version } = TINY_EVALUATION;
    const other = { dlspec, name, version, models, protocol, plugin: 'latency', matrix: MATRIX };
    await place.write('other.yml', JSON.stringify(other));
    const refused = await place.run(['evaluate', 'other.yml']);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /other\.yml:1:\d+: matrix: expected no matrix, which this plugin does not have/);
  });
});
