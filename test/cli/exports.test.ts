import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { deadline, type Ending, MAIN, type Workplace } from './support/command.js';
import { assertOneMessage, planIn, reportIn } from './support/report.js';
import { chain, FOUR_LAYERS, LAYER_CUT, QUICK } from './support/tiny-models.js';
import { workplaceHere } from './support/workplace-here.js';

/** Arguments that validate one tiny model. */
async function validate(place: Workplace, ...options: readonly string[]): Promise<readonly string[]> {
  const model = await place.write('four.onnx', chain(FOUR_LAYERS));
  return ['dlbricks', 'validate', model, ...LAYER_CUT, ...QUICK, ...options];
}

/** Starts one workplace for all tests of a suite, whose store has the measurements of {@link validate} after the first. */
function placeForSuite(): () => Workplace {
  const undone: (() => unknown)[] = [];
  let place: Workplace | undefined;
  before(async () => {
    place = await workplaceHere({ after: (undo) => void undone.unshift(undo) });
  });
  after(async () => {
    for (const undo of undone) await undo();
  });
  return () => place ?? assert.fail('only inside of a test');
}

/** The content of a file, as if a command had printed it. */
async function contentOf(path: string) {
  return { stdout: await readFile(path, 'utf8') };
}

/** Keys of the document that others read; `missing` and `bricks` hold objects of our own. */
const MODEL_KEYS = [
  'name',
  'cut',
  'layers',
  'kernels',
  'kernel_differences',
  'check',
  'assumed_inputs',
  'dimensions',
  'throughput_per_second',
  'tokens_per_second',
  'extended',
  'not_extended',
  'made_up_values',
  'values_of_run',
  'unique_bricks',
  'predicted_percent',
  'coverage',
  'estimate_ms',
  'estimate_low_ms',
  'estimate_high_ms',
  'parallel_ms',
  'parallelism',
  'longest_path',
  'critical_path',
  'end_to_end_ms',
  'graph_signature',
  'preparing_seconds',
  'end_to_end_seconds',
  'end_to_end_first_ms',
  'end_to_end_repeat_ms',
  'normalized_latency',
  'interval_hit',
  'measuring_error_percent',
  'least_error_percent',
  'limited_by',
  'bricks',
  'repeated_blocks',
  'missing',
];
const SUMMARY_KEYS = [
  'models',
  'layers',
  'unique',
  'sequences',
  'bricks_ms',
  'unique_fraction',
  'geomean_normalized_latency',
  'mape_percent',
  'worst_percent',
  'within_5_percent',
  'within_10_percent',
  'interval_hit_percent',
  'intervals',
  'cross_checked_intervals',
  'spread_percent',
  'common_spread_percent',
  'whole_spread_percent',
  'no_interval_reason',
  'machines',
  'machine_spread_percent',
  'costs',
  'ratios',
  'repeatability_percent',
];

describe('validate --export-json', { ...deadline, concurrency: 2 }, () => {
  const suitePlace = placeForSuite();
  let ending: Ending;

  before(async () => {
    ending = await suitePlace().run(await validate(suitePlace(), '--export-json', '-'));
  });

  it('has exactly the keys that its users rely on', () => {
    const report = reportIn(ending);
    assert.deepEqual(Object.keys(report), [
      'evaluation',
      'provenance',
      'system',
      'settings',
      'models',
      'generations',
      'summary',
      'warnings',
    ]);
    assert.deepEqual(
      report.models.map((model) => Object.keys(model)),
      [MODEL_KEYS],
    );
    assert.deepEqual(Object.keys(report.summary), SUMMARY_KEYS);
  });

  it('holds figures that agree with each other', () => {
    const { models, summary } = reportIn(ending);
    const [model] = models;
    assert(model?.estimate_ms != null && model.end_to_end_ms != null);
    const { layers, unique_bricks, coverage, missing, estimate_ms, end_to_end_ms } = model;
    const { end_to_end_first_ms: first, end_to_end_repeat_ms: repeat } = model;
    assert(first != null && repeat != null);
    assert.deepEqual(
      { layers, unique_bricks, coverage, missing },
      { layers: 4, unique_bricks: 3, coverage: 1, missing: [] },
    );
    const { normalized_latency, parallel_ms, estimate_low_ms, estimate_high_ms } = model;
    assert.equal(end_to_end_ms, (first + repeat) / 2);
    assert.equal(normalized_latency, estimate_ms / end_to_end_ms);
    // A chain has one path.
    assert.equal(parallel_ms, estimate_ms);
    assert((estimate_low_ms ?? NaN) <= estimate_ms && estimate_ms <= (estimate_high_ms ?? NaN));
    assert.deepEqual([summary.models, summary.layers, summary.unique, summary.unique_fraction], [1, 4, 3, 3 / 4]);
    const repeatability = (Math.abs(repeat - first) / first) * 100;
    assert(Math.abs((summary.repeatability_percent ?? NaN) - repeatability) < 1e-9 * repeatability + 1e-9);
    assert(summary.costs != null);
    const { reading_seconds: reading, preparing_seconds: preparing, ...rest } = summary.costs;
    const bricks = reading + preparing + rest.bricks_first_seconds;
    assert.equal(summary.ratios.measured, (reading + rest.models_first_seconds) / bricks);
    const wholes = reading + rest.models_first_seconds + rest.models_again_seconds;
    assert.equal(summary.ratios.as_run, wholes / (bricks + rest.bricks_again_seconds));
  });

  it('to standard output prints only the document there, and the table goes to standard error', () => {
    assert.equal(reportIn(ending).models.length, 1);
    assert.match(ending.stderr, /│ four +│/);
  });

  it('with --quiet is the only output', async () => {
    const quiet = await suitePlace().run(await validate(suitePlace(), '--export-json', '-', '--quiet'));
    assert.equal(reportIn(quiet).models.length, 1);
    assert.equal(quiet.stderr, '');
  });
});

describe('exports', { ...deadline, concurrency: 2 }, () => {
  const suitePlace = placeForSuite();

  it('go to files, whose folders are made, in addition to the table', async () => {
    const place = suitePlace();
    const tables = '--export-csv out/report.csv --export-markdown out/r.md'.split(' ');
    const files = ['--export-json', 'out/a/report.json', ...tables, '--export-html', 'out/r.html'];
    const { stdout, code } = await place.run(await validate(place, ...files));
    assert.equal(code, 0);
    assert.match(stdout, /│ four +│/);
    const { models } = reportIn(await contentOf(place.path('out/a/report.json')));
    const csv = await readFile(place.path('out/report.csv'), 'utf8');
    const markdown = await readFile(place.path('out/r.md'), 'utf8');
    assert.equal(csv.split('\r\n')[1]?.split(',').slice(0, 5).join(), `four,4,3,1,${models[0]?.estimate_ms}`);
    assert.match(markdown, /^\| model \|.*\n\| --- \|.*\n\| four \| 1 \| 1 \| 4 \| 3 \|/m);
    const html = await readFile(place.path('out/r.html'), 'utf8');
    assert.match(html, /<h1>Latency of four on .*<\/h1>[^]*<th scope="row">four<\/th>/);
    assert.deepEqual(
      await readdir(place.path('out')),
      ['a', 'r.html', 'r.md', 'report.csv'],
      'temporary files are left',
    );
  });

  it('replace an older file as a whole', async () => {
    const place = suitePlace();
    const file = await place.write('report.json', 'x'.repeat(100_000));
    await place.run(await validate(place, '--export-json', file));
    assert.equal(reportIn(await contentOf(file)).models.length, 1);
  });

  it('replace no file that the command reads, by whatever name', async (t) => {
    const place = await workplaceHere(t);
    const model = await place.write('four.onnx', chain(FOUR_LAYERS));
    const log = await place.write('result.json', '{}');
    await mkdir(place.path('folder'));
    await place.write('folder/model.yml', 'model:\n  graph_path: ../four.onnx');
    await place.write('all.yml', 'models:\n  - folder/model.yml');
    await symlink('four.onnx', place.path('link.onnx'));
    const before = await readFile(model);
    for (const args of [
      ['dlbricks', 'layers', model, '--export-csv', './four.onnx'],
      ['dlbricks', 'layers', 'link.onnx', '--export-csv', 'four.onnx'],
      ['dlbricks', 'layers', 'four.onnx', '--export-csv', 'link.onnx'],
      ['dlbricks', 'run', 'all.yml', '--export-csv', 'four.onnx'],
      ['evaluate', 'all.yml', '--export-csv', 'folder/model.yml'],
      ['latency', 'zoo:resnet18', '--input', 'a=a.npy', '--export-json', 'a.npy'],
      ['compare', 'result.json#3fa9c2e1', 'b.json', '--export-json', log],
      ['report', 'result.json', '-o', 'result.json'],
    ]) {
      await place.write('a.npy', 'array');
      const ending = await place.run(args);
      assertOneMessage(ending);
      assert.deepEqual(
        [ending.code, /would replace .*, which is read; name another file/.test(ending.stderr)],
        [2, true],
      );
    }
    assert.deepEqual(await readFile(model), before);
    assert.equal(await readFile(log, 'utf8'), '{}');
    assert.equal(await readFile(place.path('a.npy'), 'utf8'), 'array');
  });

  for (const [name, first, second] of [
    ['to standard output', '-', '-'],
    ['to one file', 'report', './report'],
  ] as const) {
    it(`of two kinds ${name} are refused`, async (t) => {
      const place = await workplaceHere(t);
      const ending = await place.run(await validate(place, '--export-json', first, '--export-csv', second));
      assertOneMessage(ending);
      assert.match(ending.stderr, /only one export can go to/);
      assert.equal(ending.code, 2);
    });
  }

  it('that annotate a graph are written through a link', async (t) => {
    const place = await workplaceHere(t);
    const model = await place.write('four.onnx', chain(FOUR_LAYERS));
    const file = await place.write('annotated.onnx', '');
    await symlink(file, place.path('link.onnx'));
    const { stderr, code } = await place.run(['trace', 'model', model, '--runs', '2', '--annotate', 'link.onnx']);
    assert.equal(code, 0, stderr);
    assert.match(await readFile(file, 'latin1'), /Sigmoid/);
  });

  it('in the place of a log or an annotated graph are refused', async (t) => {
    const place = await workplaceHere(t);
    const model = await place.write('four.onnx', chain(FOUR_LAYERS));
    for (const args of [
      ['latency', model, '--log', 'a.yml', '--export-csv', './a.yml'],
      ['dlbricks', 'run', model, '--log', 'a.yml', '--export-json', 'a.yml'],
      ['trace', 'model', model, '--annotate', 'a.onnx', '--export-html', 'a.onnx'],
    ]) {
      const ending = await place.run(args);
      assertOneMessage(ending);
      assert.match(ending.stderr, /^only one export can go to .*a\.(yml|onnx); name another file$/m);
      assert.equal(ending.code, 2);
    }
  });

  it('of one kind to two files are refused', async (t) => {
    const place = await workplaceHere(t);
    const ending = await place.run(await validate(place, '--export-json', 'a.json', '--export-json', 'b.json'));
    assert.match(ending.stderr, /--export-json <file>' argument 'b\.json' is invalid\. it is to write a\.json already/);
    assert.equal(ending.code, 2);
    assert.equal(existsSync(place.store), false);
  });

  const unwritable: Readonly<Record<string, readonly [code: number, place: (place: Workplace) => Promise<string>]>> = {
    'into a folder that is a file': [2, async (place) => `${await place.write('file', '')}/report.json`],
    'into a folder that cannot be made': [1, () => Promise.resolve('/proc/none/report.json')],
    'in the place of a folder': [
      2,
      async (place) => {
        await mkdir(place.path('folder'));
        return place.path('folder');
      },
    ],
  };
  for (const [name, [code, targetIn]] of Object.entries(unwritable)) {
    it(`${name} are an error before anything is measured`, async (t) => {
      const place = await workplaceHere(t);
      const target = await targetIn(place);
      const ending = await place.run(await validate(place, '--export-json', target));
      assertOneMessage(ending);
      assert(ending.stderr.includes(target.replace(/\/report\.json$/, '')));
      assert.equal(ending.code, code);
      assert.equal(existsSync(place.store), false);
    });
  }

  const needsFull = existsSync('/dev/full') ? false : 'this system has no /dev/full';
  it('to a full disk are an error that costs no measurement', { skip: needsFull }, async (t) => {
    const place = await workplaceHere(t);
    const ending = await place.run(await validate(place, '--export-json', '/dev/full'));
    assert.match(ending.stderr, /\/dev\/full cannot be written: ENOSPC.*name another file, or make room/);
    assert.equal(ending.code, 1);
    assert.equal(planIn(await place.run(await validate(place))).toMeasure, 0);
  });

  it('to a full disk do not keep other exports from being written', { skip: needsFull }, async () => {
    const place = suitePlace();
    await place.run(await validate(place, '--export-json', '/dev/full', '--export-csv', 'report.csv'));
    assert.equal(existsSync(place.path('report.csv')), true);
  });
});

/** Runs a script in a shell, where `mlmodelscope` is the command. */
async function shell(place: Workplace, script: string, args: readonly string[]) {
  const child = spawn('sh', ['-c', `mlmodelscope() { "$NODE" "$MAIN" "$@"; }; ${script}`, 'sh', ...args], {
    cwd: place.folder,
    env: { ...place.env, NODE: process.execPath, MAIN },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stderr };
}

describe('a reader that closes standard output', { ...deadline, concurrency: 2 }, () => {
  it('ends the command without a message', async (t) => {
    const place = await workplaceHere(t);
    // The exit code of the command, not of head.
    const script = '{ mlmodelscope "$@" --quiet --export-json -; echo $? >code; } | head -n 1';
    const { stderr } = await shell(place, script, await validate(place));
    assert.equal(stderr, '');
    assert.equal(await readFile(place.path('code'), 'utf8'), '0\n');
  });

  it('does not keep files from being written', async (t) => {
    const place = await workplaceHere(t);
    await shell(place, 'mlmodelscope "$@" --export-json report.json | true', await validate(place));
    assert.equal(reportIn(await contentOf(place.path('report.json'))).models.length, 1);
  });

  it('does not matter for standard error', async (t) => {
    const place = await workplaceHere(t);
    const { code } = await shell(place, 'mlmodelscope "$@" 2>&1 | true', await validate(place));
    assert.equal(code, 0);
  });
});
