import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { reportsSchema } from '../../plugins/dlbricks/report/report-schema.js';
import { assertOfSchema } from '../schemas/validator.js';
import { deadline, workplace, type Workplace } from './support/command.js';
import { assertOneMessage, findingsIn, planIn, reportIn } from './support/report.js';
import { AS_STORED, chain, FOUR_LAYERS, LAYER_CUT, QUICK } from './support/tiny-models.js';
import { workplaceHere } from './support/workplace-here.js';

const PROTOCOL = { warmup_runs: 1, runs: 3, min_runs: 1, time_budget_ms: 1000 };

/** Writes an evaluation of two models at the layer cut: seven layers in all, five of them different. JSON is YAML. */
async function evaluation(place: Workplace, changes: Readonly<Record<string, unknown>> = {}): Promise<string> {
  await place.write('four.onnx', chain(FOUR_LAYERS));
  await place.write('three.onnx', chain(['Relu', 'Exp', 'Abs']));
  const manifest = {
    dlspec: 'evaluation/v1',
    name: 'tiny',
    version: '1.0.0',
    models: ['four.onnx', 'three.onnx'],
    settings: { cut: 'layer' },
    protocol: PROTOCOL,
    ...changes,
  };
  return place.write('evaluation.yml', JSON.stringify(manifest));
}

async function contentOf(store: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(`${store}/data.mdb`))
    .digest('hex');
}

describe('dlbricks run EVALUATION', { ...deadline, concurrency: 2 }, () => {
  it('finds the manifests that come with the package from every folder', async (t) => {
    const place = await workplaceHere(t);
    const model = await place.run(['latency', 'manifests/models/squeezenet1.1.yml', ...QUICK]);
    assert.equal(model.code, 0, model.stderr);
    assert.match(model.stdout, /│ squeezenet1\.1 │/);
    const evaluation = 'manifests/evaluations/quickstart.yml';
    const sent = await place.run(['evaluate', evaluation, '--server', '127.0.0.1:9']);
    assert.doesNotMatch(sent.stderr, /manifests\/evaluations/);
    assert.equal(sent.code, 1, 'only the server is missing');
    const missing = await place.run(['evaluate', 'manifests/evaluations/none.yml']);
    assert.match(missing.stderr, /expected an evaluation manifest, found no such file/);
  });

  it('puts the table on standard output and the progress on standard error', async (t) => {
    const place = await workplace(t);
    const args = ['dlbricks', 'run', await evaluation(place)];
    const { stdout, stderr, code } = await place.run(args, { repeats: true });
    assert.equal(code, 0);
    assert.match(stdout, /│ four +│ +\d+\.\d+ ± /);
    assert.match(stdout, /│ three +│ +\d+\.\d+ ± /);
    assert.match(stdout, /7 layers in 2 models; 5 different ones \(bricks\)/);
    // There are more notes where the machine is busy.
    assert.match(stderr, /^7 layers; 5 different ones \(bricks\); 5 measurements to take, 0 known already$/m);
  });

  it('estimates what is named twice once', async (t) => {
    const place = await workplaceHere(t);
    const manifest = await evaluation(place);
    const exported = ['--export-json', '-', ...QUICK];
    const again = await place.run(['dlbricks', 'run', manifest, manifest, ...exported]);
    assert.deepEqual(
      reportIn(again).models.map(({ name }) => name),
      ['four', 'three'],
    );
    const models = await place.run([
      'dlbricks',
      'run',
      'four.onnx',
      'three.onnx',
      'four.onnx',
      ...LAYER_CUT,
      ...exported,
    ]);
    assert.deepEqual(
      reportIn(models).models.map(({ name }) => name),
      ['four', 'three'],
    );
  });

  it('measures nothing the second time, and reports the same', async (t) => {
    const place = await workplaceHere(t);
    const args = ['dlbricks', 'run', await evaluation(place), '--export-json', '-'];
    const first = await place.run(args);
    const stored = await contentOf(place.store);
    const second = await place.run([...args, ...AS_STORED]);
    assert.deepEqual(planIn(second), { toMeasure: 0, known: 5 });
    assert.deepEqual(findingsIn(second), findingsIn(first));
    assert.equal(await contentOf(place.store), stored, 'the store has changed');
  });

  it('measures again as the manifest says', async (t) => {
    const place = await workplaceHere(t);
    const args = ['dlbricks', 'run', await evaluation(place, { settings: { cut: 'layer', remeasure: 'all' } })];
    await place.run(args);
    assert.deepEqual(planIn(await place.run(args, { repeats: true })), { toMeasure: 5, known: 0 });
    assert.deepEqual(planIn(await place.run([...args, ...AS_STORED])), { toMeasure: 0, known: 5 });
  });

  it('measures only bricks that no earlier evaluation has measured', async (t) => {
    const place = await workplaceHere(t);
    await place.run(['dlbricks', 'run', await evaluation(place, { models: ['three.onnx'] })]);
    const { toMeasure, known } = planIn(await place.run(['dlbricks', 'run', await evaluation(place)]));
    assert.deepEqual({ toMeasure, known }, { toMeasure: 2, known: 3 });
  });

  it('uses the settings of the manifest', async (t) => {
    const place = await workplaceHere(t);
    const manifest = await evaluation(place, {
      batch_size: 2,
      threads: 2,
      settings: { cut: 'kernel', granularity: 2, measure_end_to_end: true },
    });
    const ending = await place.run(['dlbricks', 'run', manifest, '--export-json', '-']);
    const { settings, system, models } = reportIn(ending);
    const { cut, granularity, batch, runs, warmup_runs, min_runs, time_budget_ms } = settings;
    assert.deepEqual(
      { cut, granularity, batch, threads: system.threads, runs, warmup_runs, min_runs, time_budget_ms },
      {
        cut: 'kernel',
        granularity: 2,
        batch: 2,
        threads: 2,
        runs: 3,
        warmup_runs: 1,
        min_runs: 1,
        time_budget_ms: 1000,
      },
    );
    assert(models.every(({ end_to_end_ms: ms }) => ms !== null));
  });

  it('lets options win over the manifest', async (t) => {
    const place = await workplaceHere(t);
    const manifest = await evaluation(place, { batch_size: 4, settings: { granularity: 3, cut: 'kernel' } });
    const options = ['-G', '2', '--cut', 'layer', '--batch', '2', '--threads', '2', '--runs', '4', '--warmup', '0'];
    const ending = await place.run(['dlbricks', 'run', manifest, ...options, '--export-json', '-']);
    const { settings, system } = reportIn(ending);
    const { granularity, cut, batch, runs, warmup_runs } = settings;
    assert.deepEqual(
      { granularity, cut, batch, threads: system.threads, runs, warmup_runs },
      { granularity: 2, cut: 'layer', batch: 2, threads: 2, runs: 4, warmup_runs: 0 },
    );
  });

  it('binds a dimension that the command line gives', async (t) => {
    const place = await workplaceHere(t);
    const manifest = await evaluation(place, { models: ['sentences.onnx'] });
    await place.write('sentences.onnx', chain(['Relu'], ['batch', 'sequence']));
    const { code } = await place.run(['dlbricks', 'run', manifest, '--dimension', 'sequence=16']);
    assert.equal(code, 0);
  });

  it('refuses a dimension that no model has', async (t) => {
    const place = await workplaceHere(t);
    const ending = await place.run(['dlbricks', 'run', await evaluation(place), '--dimension', 'sequence=16']);
    assert.match(ending.stderr, /--dimension sequence: none of the models/);
    assert.equal(ending.code, 2);
  });

  it('keeps measurements where --store says', async (t) => {
    const place = await workplaceHere(t);
    await place.run(['dlbricks', 'run', await evaluation(place), '--store', 'elsewhere']);
    assert.deepEqual([existsSync(place.path('elsewhere')), existsSync(place.store)], [true, false]);
  });

  it('says nothing when asked to be quiet', async (t) => {
    const place = await workplace(t);
    const ending = await place.run(['dlbricks', 'run', await evaluation(place), '--quiet']);
    assert.deepEqual(ending, { stdout: '', stderr: '', code: 0 });
  });

  it('can run twice at the same time with one store', async (t) => {
    const place = await workplace(t);
    const args = ['dlbricks', 'run', await evaluation(place)];
    const endings = await Promise.all([place.run(args), place.run(args)]);
    assert.deepEqual(
      endings.map(({ code }) => code),
      [0, 0],
    );
    assert.equal(planIn(await place.run(args)).toMeasure, 0);
  });
});

describe('an evaluation manifest', { ...deadline, concurrency: 2 }, () => {
  it('with mistakes gives all of them at once, each with its place', async (t) => {
    const place = await workplaceHere(t);
    const manifest = await place.write(
      'wrong.yml',
      [
        'dlspec: evaluation/v1',
        'name: wrong',
        'version: 1',
        'modles: [a.onnx]',
        'models:',
        '  - zoo:resnet81',
        '  - missing.onnx',
        'threads: 0',
        'protocol: { runs: many }',
      ].join('\n'),
    );
    const ending = await place.run(['dlbricks', 'run', manifest]);
    assertOneMessage(ending);
    assert.equal(ending.code, 2);
    const lines = ending.stderr.trimEnd().split('\n');
    for (const line of lines) assert.match(line, /^.+\/wrong\.yml:\d+:\d+: \S+: expected .+, found .+$/);
    assert.deepEqual(
      lines.map((line) => /:(\d+:\d+: [^:]+):/.exec(line)?.[1]),
      ['3:10: version', '4:1: modles', '6:5: models[0]', '7:5: models[1]', '8:10: threads', '9:19: protocol.runs'],
    );
  });

  it('that asks for another machine gives the list of unmet requirements, and nothing is measured', async (t) => {
    const place = await workplaceHere(t);
    const manifest = await evaluation(place, {
      hardware: { processor: 'Nonesuch', cores: { min: 99999 }, memory: { min_gib: 1e9 } },
      software: { framework: { name: 'onnxruntime', version: '^99' } },
    });
    const ending = await place.run(['dlbricks', 'run', manifest]);
    assertOneMessage(ending);
    assert.equal(ending.code, 1);
    const [first, ...rest] = ending.stderr.trimEnd().split('\n');
    assert.match(first ?? '', /evaluation\.yml \(change `hardware` in the manifest; --allow-version accepts .+\):$/);
    assert.deepEqual(
      rest.map((line) => /^ {2}(\w+: expected .+), found .+$/.exec(line)?.[1]),
      [
        'hardware: expected a processor "Nonesuch"',
        'hardware: expected at least 99999 cores',
        'hardware: expected at least 1000000000 GiB of memory',
        'software: expected onnxruntime ^99',
      ],
    );
    assert.equal(existsSync(place.store), false);
  });

  it('of another plugin is refused before any model is read', async (t) => {
    const place = await workplaceHere(t);
    const manifest = await evaluation(place, { plugin: 'other' });
    await place.write('four.onnx', 'not a model');
    const ending = await place.run(['dlbricks', 'run', manifest]);
    assert.match(ending.stderr, /evaluation\.yml: plugin: expected dlbricks, found other/);
    assert.equal(ending.code, 2);
  });
});

describe('dlbricks run MODEL...', deadline, () => {
  it('estimates models, files and manifests, and measures none of them whole', async (t) => {
    const place = await workplaceHere(t);
    await place.write('four.onnx', chain(FOUR_LAYERS));
    const file = await place.write('three.onnx', chain(['Relu', 'Exp', 'Abs']));
    const checksum = createHash('sha256')
      .update(await readFile(file))
      .digest('hex');
    const tensor = { element_type: 'float32', dimensions: [1, 8] };
    const manifest = {
      dlspec: 'model/v1',
      name: 'named',
      version: '1.0.0',
      framework: { name: 'onnxruntime', version: '^1.20' },
      inputs: [{ layer_name: 'x', ...tensor }],
      outputs: [{ layer_name: 'y', ...tensor }],
      model: { graph_path: 'three.onnx', checksum },
    };
    await place.write('named.yml', JSON.stringify(manifest));
    for (const names of [['four.onnx', 'named.yml'], ['named.yml'], ['zoo:squeezenet1.1', 'named.yml']]) {
      const ending = await place.run(['dlbricks', 'run', ...names, ...LAYER_CUT, ...QUICK, '--export-json', '-']);
      assert.equal(ending.code, 0, ending.stderr);
      const { models } = reportIn(ending);
      assert.deepEqual(models.map(({ name }) => name).slice(-1), ['named']);
      assert.ok(models.every(({ coverage, end_to_end_ms: whole }) => coverage === 1 && whole === null));
    }
  });

  it('takes evaluations and models together, with one plan, one table and one document', async (t) => {
    const place = await workplaceHere(t);
    const manifest = await evaluation(place, { batch_size: 2 });
    // The same protocol as in the manifest, so that both share their measurements.
    await place.write('two.onnx', chain(['Relu', 'Tanh']));
    const args = ['dlbricks', 'run', manifest, 'three.onnx', 'two.onnx', ...LAYER_CUT, '--batch', '1'];
    const more = [...QUICK, ...AS_STORED, '--export-json', '-', '--export-csv', 'out.csv'];
    const ending = await place.run([...args, ...more]);
    assert.equal(ending.code, 0, ending.stderr);
    const document = JSON.parse(ending.stdout) as unknown;
    assertOfSchema('reports', document);
    const { reports } = reportsSchema.parse(document);
    assert.deepEqual(
      reports.map(({ evaluation: name, models }) => [name, models.map((model) => model.name)]),
      [
        ['tiny', ['four', 'three']],
        [null, ['three', 'two']],
      ],
    );
    assert.match(ending.stderr, /│ model +│ evaluation │ batch │ threads │/);
    const rows = (await readFile(place.path('out.csv'), 'utf8'))
      .trim()
      .split('\r\n')
      .map((row) => row.split(','));
    const cell = (key: string) => rows.slice(1).map((row) => row[rows[0]?.indexOf(key) ?? -1]);
    assert.deepEqual(cell('name'), ['four', 'three', 'three', 'two']);
    assert.deepEqual(cell('evaluation'), ['tiny', 'tiny', '', '']);
    assert.equal(planIn(await place.run([...args, ...more])).toMeasure, 0);
  });

  it('measures nothing where an evaluation among models has a mistake, and continues without a broken model', async (t) => {
    const place = await workplaceHere(t);
    const manifest = await evaluation(place);
    await place.write('broken.onnx', 'not a model');
    const wrong = await place.write('wrong.yml', JSON.stringify({ dlspec: 'evaluation/v1', name: 'wrong' }));
    const refused = await place.run(['dlbricks', 'run', 'four.onnx', wrong]);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /wrong\.yml:1:\d+: models: expected/);
    assert.equal(existsSync(place.store), false);
    const ending = await place.run(['dlbricks', 'run', 'broken.onnx', manifest, ...AS_STORED]);
    assert.equal(ending.code, 3, ending.stderr);
    assert.match(ending.stderr, /^warning: broken\.onnx: /m);
    assert.match(ending.stdout, /│ four +│ tiny /);
    assert.match(ending.stdout, /│ broken\.onnx +│ - /);
  });

  it('runs once for each batch size and number of threads, with one plan, and measures nothing twice', async (t) => {
    const place = await workplaceHere(t);
    await place.write('four.onnx', chain(FOUR_LAYERS));
    await place.write('fixed.onnx', chain(['Relu', 'Exp'], [1, 8]));
    const sweep = ['--batch', '1,2', '--threads', '1,2', ...LAYER_CUT, ...QUICK, ...AS_STORED];
    const args = ['dlbricks', 'run', 'four.onnx', 'fixed.onnx', ...sweep, '--export-csv', '-'];
    const ending = await place.run(args);
    // A model with a fixed batch cannot have another batch.
    assert.match(ending.stderr, /^warning: fixed\.onnx: .*batch is fixed at 1/m);
    assert.equal(ending.code, 3);
    // Batch 1: three bricks of one model, and one more of the other. Batch 2: three bricks. Each with 1 and 2 threads.
    assert.deepEqual(planIn(ending), { toMeasure: 2 * (4 + 3), known: 0 });
    const [header = [], ...rows] = ending.stdout
      .trim()
      .split('\r\n')
      .map((row) => row.split(','));
    const columns = ['name', 'batch', 'threads'].map((key) => header.indexOf(key));
    assert.deepEqual(
      rows.map((cells) => columns.map((column) => cells[column]).join(' ')),
      ['four 1 1', 'four 1 2', 'four 2 1', 'four 2 2', 'fixed 1 1', 'fixed 1 2', 'fixed.onnx 2 1', 'fixed.onnx 2 2'],
    );
    assert.match(ending.stderr, /│ model +│ batch │ threads │/);
    assert.equal(planIn(await place.run(args)).toMeasure, 0);
  });
});
