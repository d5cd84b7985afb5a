import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { reportsSchema } from '../../plugins/dlbricks/report/report-schema.js';
import { recipeSchema } from '../../plugins/dlbricks/bricks/recipe.js';
import { quantizedConv } from '../onnx/quantized-conv.js';
import { CONV_LAYERS, convModel } from './support/conv-model.js';
import { deadline, type Workplace } from './support/command.js';
import { findingsIn, planIn, reportIn } from './support/report.js';
import { AS_STORED, chain, LAYER_CUT, ONCE, QUICK } from './support/tiny-models.js';
import { workplaceHere } from './support/workplace-here.js';

const PAPER = /paper's method/;

/** Arguments that validate the model of convolutions. */
async function validate(place: Workplace, ...options: readonly string[]): Promise<readonly string[]> {
  return ['dlbricks', 'validate', await place.write('conv.onnx', convModel()), ...QUICK, ...ONCE, ...options];
}

/** Every number of a document, however deep. */
function numbersIn(value: unknown): readonly number[] {
  if (typeof value === 'number') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : [];
}

/** Generates a suite from the model of convolutions. */
async function generate(place: Workplace, ...options: readonly string[]) {
  await place.write('conv.onnx', convModel());
  return place.run(['dlbricks', 'generate', 'conv.onnx', '-o', 'given', ...options]);
}

describe('the kernel cut', { ...deadline, concurrency: 2 }, () => {
  it('is the default, and estimates a model from bricks of its optimized graph', async (t) => {
    const place = await workplaceHere(t);
    const ending = await place.run(await validate(place, '--export-json', '-'));
    assert.equal(ending.code, 0);
    const report = reportIn(ending);
    const [model] = report.models;
    assert.deepEqual([report.settings.cut, model?.layers, model?.coverage], ['kernel', CONV_LAYERS, 1]);
    assert((model?.estimate_ms ?? 0) > 0 && (model?.end_to_end_ms ?? 0) > 0);
    assert.deepEqual(
      numbersIn(report).filter((number) => number < 0),
      [],
    );
  });

  it('has a row for each level of the optimizer, and says which changes nothing', async (t) => {
    const place = await workplaceHere(t);
    await place.write('conv.onnx', convModel());
    const args = ['dlbricks', 'run', 'conv.onnx', ...QUICK, '--repeat-limit', '0', ...AS_STORED];
    const ending = await place.run([...args, '--optimization-level', 'disabled,layout,all', '--export-json', '-']);
    assert.equal(ending.code, 0, ending.stderr);
    const { reports } = reportsSchema.parse(JSON.parse(ending.stdout));
    const kernelsOf = (index: number) => reports[index]?.models[0]?.kernels ?? 0;
    assert.deepEqual(
      reports.map(({ system }) => system.optimization_level),
      ['disabled', 'layout', 'all'],
    );
    assert.ok(kernelsOf(0) > kernelsOf(2), 'the optimizer fuses nothing');
    const said = reports.map(({ warnings }) => warnings.filter(({ cause }) => cause === 'settings').length);
    const isSame = kernelsOf(1) === kernelsOf(2);
    assert.deepEqual(said, [0, isSame ? 1 : 0, 0]);
    assert.match(ending.stderr, /│ optimizer off +│/);
  });

  it('measures nothing the second time, and reports the same', async (t) => {
    const place = await workplaceHere(t);
    const args = await validate(place, '--export-json', '-');
    const first = await place.run(args);
    const second = await place.run([...args, ...AS_STORED]);
    assert.equal(planIn(second).toMeasure, 0);
    assert.equal(planIn(second).known, planIn(first).toMeasure);
    assert.deepEqual(findingsIn(second), findingsIn(first));
  });

  it('finds single kernels that are the same, and fused ones, at -G 1', async (t) => {
    const place = await workplaceHere(t);
    const ending = await place.run(await validate(place, '-G', '1', '--export-json', '-'));
    assert.equal(ending.code, 0);
    const { settings, models, summary } = reportIn(ending);
    const [model] = models;
    assert.deepEqual([settings.cut, settings.granularity, model?.coverage], ['kernel', 1, 1]);
    assert((model?.estimate_ms ?? 0) > 0);
    assert((summary.unique_fraction ?? 1) < 1, 'the convolutions are different bricks');
  });

  it('gives a reason instead of an estimate for a model that the runtime refuses, and continues', async (t) => {
    const place = await workplaceHere(t);
    await place.write('mystery.onnx', chain(['Relu', 'no.runtime:Mystery']));
    const conv = await place.write('conv.onnx', convModel());
    const ending = await place.run([
      ...'dlbricks validate mystery.onnx'.split(' '),
      conv,
      ...QUICK,
      ...ONCE,
      '--export-json',
      '-',
    ]);
    assert.equal(ending.code, 3);
    const [mystery, other] = reportIn(ending).models;
    assert.deepEqual([mystery?.coverage, mystery?.estimate_ms], [0, null]);
    assert.match(mystery?.missing[0]?.reason ?? '', /Mystery/);
    assert.equal(other?.coverage, 1);
    assert.notEqual(other.normalized_latency, null);
  });

  it('does not mention the method of the paper, as the layer cut does', async (t) => {
    const place = await workplaceHere(t);
    const byKernels = await place.run(await validate(place));
    const byLayers = await place.run(await validate(place, ...LAYER_CUT));
    assert.match(byKernels.stdout, /, run as \d+ kernels?; \d+ different|of up to \d+ kernels/);
    assert.doesNotMatch(byKernels.stdout, PAPER);
    assert.match(byLayers.stdout, /layers in 1 model; \d+ different/);
    assert.match(byLayers.stdout, PAPER);
  });
});

describe(
  'a file whose own weights make the runtime choose other kernels than made-up weights',
  { ...deadline, concurrency: 2 },
  () => {
    it('is named in a warning, with the operators and their numbers', async (t) => {
      const place = await workplaceHere(t);
      const path = await place.write('other.onnx', quantizedConv({ biasFactor: 2 }));
      const ending = await place.run(['dlbricks', 'validate', path, ...QUICK, ...ONCE, '--export-json', '-']);
      const { models, warnings } = reportIn(ending);
      const conv = models[0]?.kernel_differences?.find(({ operator }) => operator.endsWith('QLinearConv'));
      assert.deepEqual([conv?.of_file, conv?.made_up], [0, 1]);
      const warning = warnings.find(({ cause }) => cause === 'kernels');
      assert.match(warning?.message ?? '', /^other: .*QLinearConv 0, with made-up weights 1/);
      assert.match(ending.stderr, /warning: other: with the file's own weights, the runtime makes other kernels/);
    });

    it('has no such warning where the kernels are the same', async (t) => {
      const place = await workplaceHere(t);
      const path = await place.write('same.onnx', quantizedConv());
      const { models, warnings } = reportIn(
        await place.run(['dlbricks', 'validate', path, ...QUICK, ...ONCE, '--export-json', '-']),
      );
      assert.deepEqual(models[0]?.kernel_differences, []);
      assert.ok(!warnings.some(({ cause }) => cause === 'kernels'));
    });
  },
);

describe('a suite of kernels', { ...deadline, concurrency: 2 }, () => {
  for (const options of [[], ['-G', '1']] as const) {
    const name = options.length === 0 ? 'by default' : options.join(' ');
    it(`composed from its results gives the same as composing from the store, ${name}`, async (t) => {
      const owner = await workplaceHere(t);
      const other = await workplaceHere(t);
      assert.equal((await generate(owner, ...options)).code, 0);
      const results = owner.path('results.json');
      const suite = owner.path('given', 'suite');
      const measured = await other.run(['dlbricks', 'run', '--suite', suite, ...QUICK, '--export-json', results]);
      assert.equal(measured.code, 0);

      const compose = ['dlbricks', 'compose', '--export-json', '-'];
      const fromResults = await owner.run([...compose, '--recipe', 'given/recipe.json', '--results', results]);
      const fromStore = await other.run([...compose, owner.path('conv.onnx'), ...options, ...QUICK]);

      assert.deepEqual([fromResults.code, fromStore.code], [0, 0], fromResults.stderr + fromStore.stderr);
      const actual = reportIn(fromResults);
      const expected = reportIn(fromStore);
      assert((actual.models[0]?.estimate_ms ?? 0) > 0);
      // Results of a suite do not say from which graph the suite was made.
      const withoutGraph = expected.models.map((model) => ({ ...model, graph_signature: null }));
      assert.deepEqual(actual.models, withoutGraph);
      assert.deepEqual(actual.settings, expected.settings);
    });
  }

  it('has one kernel in each brick at -G 1', async (t) => {
    const place = await workplaceHere(t);
    await generate(place, '-G', '1');
    const { cut, models } = recipeSchema.parse(JSON.parse(await readFile(place.path('given', 'recipe.json'), 'utf8')));
    assert.equal(cut, 'kernel');
    for (const { operators } of models[0]?.bricks ?? []) assert.equal(operators.length, 1);
  });
});
