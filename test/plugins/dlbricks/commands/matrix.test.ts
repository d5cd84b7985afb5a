import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { reportsSchema } from '../../../../plugins/dlbricks/report/report-schema.js';
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
      settings: { remeasure: 'none', repeat_limit: 0 },
    });
    const { cells } = await cellsOf(place, ['dlbricks', 'run', 'matrix.yml']);
    assert.deepEqual(
      cells.map(([, , cut]) => cut),
      ['layer', 'kernel'],
    );
    const { stdout } = await place.run(['dlbricks', 'sweep', 'matrix.yml']);
    assert.match(stdout, /layer[\s\S]*kernel/);
  });

  it('says which settings change nothing', async (t) => {
    const settings = { remeasure: 'none', repeat_limit: 0 };
    const place = await placeWith(t, { matrix: { optimization_level: ['all', 'extended'] }, settings });
    const { stderr, cells } = await cellsOf(place, ['dlbricks', 'run', 'matrix.yml']);
    assert.equal(cells.length, 2);
    assert.match(stderr, /net/);
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
