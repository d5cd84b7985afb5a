import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { recipeSchema } from '../../plugins/dlbricks/bricks/recipe.js';
import { deadline, type Workplace } from './support/command.js';
import { planIn, reportIn } from './support/report.js';
import { chain, failsOnlyAsAWhole, LAYER_CUT, QUICK } from './support/tiny-models.js';
import { workplaceHere } from './support/workplace-here.js';

const WITH_FOREIGN_OPERATOR = ['Relu', 'no.runtime:Mystery', 'Relu'] as const;

/** A model that works, and one that does not. */
async function models(place: Workplace, broken: Uint8Array): Promise<readonly string[]> {
  await place.write('good.onnx', chain(['Relu', 'Tanh']));
  await place.write('broken.onnx', broken);
  return ['good.onnx', 'broken.onnx'];
}

describe('a brick that fails', { ...deadline, concurrency: 2 }, () => {
  it('is listed with its reason, and the estimate covers the rest', async (t) => {
    const place = await workplaceHere(t);
    const names = await models(place, chain(WITH_FOREIGN_OPERATOR));
    const ending = await place.run(['dlbricks', 'validate', ...names, ...LAYER_CUT, ...QUICK, '--export-json', '-']);
    assert.equal(ending.code, 3);
    const [good, broken] = reportIn(ending).models;
    assert.equal(good?.coverage, 1);
    assert.notEqual(good.normalized_latency, null);
    assert.equal(broken?.coverage, 2 / 3);
    assert.equal(broken.normalized_latency, null);
    const missing = broken.missing.find(({ benchmark }) => benchmark === 'brick');
    assert.deepEqual(missing?.operators, ['Mystery']);
    assert.match(missing.reason, /^unsupported: .*Mystery/);
  });

  it('is reported in a warning when it fails, and below the table', async (t) => {
    const place = await workplaceHere(t);
    const names = await models(place, chain(WITH_FOREIGN_OPERATOR));
    const { stdout, stderr } = await place.run(['dlbricks', 'validate', ...names, ...LAYER_CUT, ...QUICK]);
    assert.match(stderr, /^warning: broken: Mystery: unsupported: .*Mystery/m);
    assert.match(stdout, /^ {2}broken: missing 1 x Mystery \(1x8\): unsupported: .*Mystery/m);
    assert.match(stdout, /│ broken +│ +part: \d+\.\d+ ± [^│]+│ +66\.7 % │/);
  });

  it('is not tried again by the next run', async (t) => {
    const place = await workplaceHere(t);
    const args = [
      'dlbricks',
      'validate',
      ...(await models(place, chain(WITH_FOREIGN_OPERATOR))),
      ...LAYER_CUT,
      ...QUICK,
    ];
    await place.run(args);
    const again = await place.run(args);
    assert.equal(planIn(again).toMeasure, 0);
    assert.equal(again.code, 3);
  });
});

describe('a model that cannot be used', { ...deadline, concurrency: 2 }, () => {
  const damaged = Uint8Array.of(0x08, 0x08, 0x3a, 0x7f);
  const refused = chain(WITH_FOREIGN_OPERATOR);

  it('has its row with the reason, and the others have their estimates', async (t) => {
    const place = await workplaceHere(t);
    await place.write('good.onnx', chain(['Relu', 'Tanh']));
    await place.write('damaged.onnx', damaged);
    await place.write('refused.onnx', refused);
    const names = ['damaged.onnx', 'refused.onnx', 'good.onnx'];
    const ending = await place.run(['dlbricks', 'validate', ...names, ...QUICK, '--export-json', '-']);
    assert.equal(ending.code, 3);
    const rows = new Map(reportIn(ending).models.map((model) => [model.name, model]));
    assert.deepEqual([...rows.keys()].sort(), ['damaged.onnx', 'good', 'refused']);
    assert.equal(rows.get('good')?.coverage, 1);
    assert.match(rows.get('damaged.onnx')?.missing[0]?.reason ?? '', /damaged\.onnx/);
    assert.match(rows.get('refused')?.missing[0]?.reason ?? '', /Mystery/);
    assert.match(ending.stderr, /^warning: damaged\.onnx: /m);
  });

  it('has its row where there is no other model', async (t) => {
    const place = await workplaceHere(t);
    for (const [model, reason] of [
      [refused, /^warning: refused: the runtime refuses the graph: .*Mystery.*is not a registered function/m],
      [
        chain(['Relu'], [1_000_000, 1_000_000]),
        /GB of activations, which is more than .*; use smaller dimensions, or a machine with more memory$/m,
      ],
    ] as const) {
      await place.write('refused.onnx', model);
      const ending = await place.run(['dlbricks', 'run', 'refused.onnx', ...QUICK, '--export-json', '-']);
      assert.equal(ending.code, 3, ending.stderr);
      assert.match(ending.stderr, reason);
      assert.equal(reportIn(ending).models[0]?.missing.length, 1);
    }
  });

  it('has its row in a report of a manifest as well', async (t) => {
    const place = await workplaceHere(t);
    await place.write('good.onnx', chain(['Relu', 'Tanh']));
    await place.write('damaged.onnx', damaged);
    const manifest = [
      'dlspec: evaluation/v1',
      'name: two',
      'version: 1.0.0',
      'models: [good.onnx, damaged.onnx]',
      'batch_size: 1',
      'threads: 1',
    ];
    await place.write('two.yml', Buffer.from(manifest.join('\n')));
    const ending = await place.run(['dlbricks', 'run', 'two.yml', ...QUICK, '--export-json', '-']);
    assert.equal(ending.code, 3, ending.stderr);
    assert.deepEqual(
      reportIn(ending).models.map(({ name, coverage }) => [name, coverage]),
      [
        ['good', 1],
        ['damaged', 0],
      ],
    );
  });

  it('is left out of a suite with its reason', async (t) => {
    const place = await workplaceHere(t);
    await place.write('good.onnx', chain(['Relu', 'Tanh']));
    await place.write('refused.onnx', refused);
    const ending = await place.run(['dlbricks', 'generate', 'refused.onnx', 'good.onnx', '-o', 'out']);
    assert.equal(ending.code, 3);
    assert.match(ending.stderr, /^warning: refused is left out: .*Mystery/m);
    const recipe = recipeSchema.parse(JSON.parse(await readFile(join(place.folder, 'out', 'recipe.json'), 'utf8')));
    assert.deepEqual(
      recipe.models.map(({ name }) => name),
      ['good'],
    );
  });

  it('is an error where there is no other model to read or to put into a suite', async (t) => {
    const place = await workplaceHere(t);
    await place.write('damaged.onnx', damaged);
    await place.write('refused.onnx', refused);
    assert.equal((await place.run(['dlbricks', 'validate', 'damaged.onnx', ...QUICK])).code, 2);
    assert.equal((await place.run(['dlbricks', 'generate', 'refused.onnx', '-o', 'out'])).code, 1);
  });
});

describe('a model that fails as a whole', { ...deadline, concurrency: 2 }, () => {
  it('has an estimate, no end-to-end latency, and the reason', async (t) => {
    const place = await workplaceHere(t);
    const names = await models(place, failsOnlyAsAWhole());
    const ending = await place.run(['dlbricks', 'validate', ...names, ...LAYER_CUT, ...QUICK, '--export-json', '-']);
    assert.equal(ending.code, 3);
    const [good, broken] = reportIn(ending).models;
    assert.notEqual(good?.normalized_latency, null);
    assert.equal(broken?.coverage, 1);
    assert.notEqual(broken.estimate_ms, null);
    assert.deepEqual(
      [broken.end_to_end_ms, broken.end_to_end_repeat_ms, broken.normalized_latency],
      [null, null, null],
    );
    assert.deepEqual(new Set(broken.missing.map(({ benchmark }) => benchmark)), new Set(['end_to_end']));
    for (const { reason } of broken.missing) assert.match(reason, /^run_failed: .*Gather/);
  });
});
