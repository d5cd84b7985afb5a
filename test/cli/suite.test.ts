import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { recipeSchema } from '../../plugins/dlbricks/bricks/recipe.js';
import { deadline, type Workplace } from './support/command.js';
import { assertOneMessage, planIn, reportIn } from './support/report.js';
import { AS_STORED, chain, FOUR_LAYERS, LAYER_CUT, QUICK } from './support/tiny-models.js';
import { workplaceHere } from './support/workplace-here.js';

const RESULTS = 'results.json';

async function generate(place: Workplace, ...options: readonly string[]) {
  await place.write('secret.onnx', chain(FOUR_LAYERS));
  return place.run(['dlbricks', 'generate', 'secret.onnx', '-o', 'given', ...LAYER_CUT, ...options]);
}

async function recipeOf(place: Workplace) {
  return recipeSchema.parse(JSON.parse(await readFile(place.path('given', 'recipe.json'), 'utf8')));
}

function bricksIn(place: Workplace): Promise<readonly string[]> {
  return readdir(place.path('given', 'suite', 'bricks'));
}

describe('a suite', { ...deadline, concurrency: 2 }, () => {
  it('that was measured gives with its recipe the same estimate as validating the model', async (t) => {
    const place = await workplaceHere(t);
    await generate(place);
    const validated = await place.run([
      ...'dlbricks validate secret.onnx'.split(' '),
      ...LAYER_CUT,
      ...QUICK,
      '--export-json',
      '-',
    ]);
    const suite = ['--suite', 'given/suite', ...QUICK, ...AS_STORED, '--export-json', RESULTS];
    const measured = await place.run(['dlbricks', 'run', ...suite]);
    assert.deepEqual([measured.code, planIn(measured)], [0, { toMeasure: 0, known: 3 }]);
    const composed = await place.run(
      ['dlbricks', 'compose', '--recipe', 'given/recipe.json', '--results', RESULTS, '--export-json', '-'],
      { env: { MLMODELSCOPE_STORE: place.path('empty') } },
    );
    assert.equal(composed.code, 0);
    const expected = reportIn(validated).models[0];
    const actual = reportIn(composed).models[0];
    assert.deepEqual(actual, {
      ...expected,
      // The recipe does not have these values.
      dimensions: [],
      graph_signature: null,
      critical_path: expected?.critical_path.map((sequence) => ({ ...sequence, kernels: null })),
      preparing_seconds: null,
      end_to_end_seconds: null,
      end_to_end_ms: null,
      end_to_end_first_ms: null,
      end_to_end_repeat_ms: null,
      normalized_latency: null,
      interval_hit: null,
    });
  });

  it('is measured without any of the models', async (t) => {
    const owner = await workplaceHere(t);
    const other = await workplaceHere(t);
    await generate(owner);
    const suite = owner.path('given', 'suite');
    const { stdout, stderr, code } = await other.run(['dlbricks', 'run', '--suite', suite, ...QUICK]);
    assert.deepEqual({ stdout, code }, { stdout: '', code: 0 });
    assert.match(stderr, /^3 measurements of the suite.s bricks, 3 of them taken now; 0 failed$/m);
    assert.match(stderr, /--export-json FILE/);
  });

  it('holds the bricks of decoys, which the recipe does not mention', async (t) => {
    const place = await workplaceHere(t);
    await place.write('decoy.onnx', chain(['Exp', 'Abs']));
    await generate(place, '--decoy', 'decoy.onnx');
    const args = ['dlbricks', 'generate', 'secret.onnx', '-o', 'again', '--decoy'];
    const hiding = /^warning: the decoys hide nothing: no brick of the models is in a decoy/m;
    assert.match((await place.run([...args, 'decoy.onnx'])).stderr, hiding);
    await place.write('relative.onnx', chain(['Relu', 'Abs']));
    assert.doesNotMatch((await place.run([...args, 'relative.onnx'])).stderr, hiding);
    const { models } = await recipeOf(place);
    assert.deepEqual(
      models.map(({ name, bricks }) => [name, bricks.length]),
      [['secret', 3]],
    );
    assert.equal((await bricksIn(place)).length, 5);
  });

  it('is cut as the options say', async (t) => {
    const place = await workplaceHere(t);
    await generate(place, '-G', '2', '--batch', '3');
    const { granularity, batch, models } = await recipeOf(place);
    assert.deepEqual([granularity, batch, models[0]?.sequences.length], [2, 3, 2]);
  });

  it('is never overwritten', async (t) => {
    const place = await workplaceHere(t);
    await generate(place);
    const before = await bricksIn(place);
    const again = await generate(place, '-G', '2');
    assertOneMessage(again);
    assert.match(again.stderr, /given\/suite exists already; name another folder with -o, or remove it first/);
    assert.equal(again.code, 2);
    assert.deepEqual(await bricksIn(place), before);
  });

  it('is not begun in a file instead of a folder', async (t) => {
    const place = await workplaceHere(t);
    await place.write('given', 'a file');
    const ending = await generate(place);
    assertOneMessage(ending);
    assert.match(ending.stderr, /^\S*given is not a folder; name another one with -o\n$/);
    assert.equal(ending.code, 2);
  });

  it('refuses options that only models have', async (t) => {
    const place = await workplaceHere(t);
    const ofModels = [
      ['--measure', 'none'],
      ['--target-error', '2'],
      ['--repeat-limit', '3'],
      ['--check'],
      ['--best', 'latency'],
      ['--within', '5ms'],
    ] as const;
    for (const [option, problem] of [
      ...ofModels.map((of) => [of, new RegExp(`^${of[0]} is for models`)] as const),
      [['--export-html', 'page.html'], /^--suite has results for --export-json only/],
    ] as const) {
      const { stderr, code } = await place.run(['dlbricks', 'run', '--suite', 'given/suite', ...option]);
      assert.match(stderr, problem);
      assert.equal(code, 2);
    }
  });

  it('that was changed after its generation is not measured', async (t) => {
    const place = await workplaceHere(t);
    await generate(place);
    const [brick = ''] = await bricksIn(place);
    await place.write(`given/suite/bricks/${brick}`, chain(['Sin']));
    const ending = await place.run(['dlbricks', 'run', '--suite', 'given/suite', ...QUICK]);
    assertOneMessage(ending);
    assert.match(ending.stderr, new RegExp(`${brick}: its content does not have the SHA-256 in its name`));
    assert.equal(ending.code, 2);
    assert.equal(existsSync(place.store), false);
  });
});
