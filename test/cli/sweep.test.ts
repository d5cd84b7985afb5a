import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { sweepSchema } from '../../plugins/dlbricks/sweep/sweep-result.js';
import { deadline } from './support/command.js';
import { assertOneMessage, planIn } from './support/report.js';
import { AS_STORED, chain, FOUR_LAYERS, ONCE, QUICK } from './support/tiny-models.js';
import { workplaceHere } from './support/workplace-here.js';

const MODELS = ['one.onnx', 'other.onnx'] as const;

describe('a sweep', { ...deadline, concurrency: 2 }, () => {
  it('has a table with a row for each model with --wide', async (t) => {
    const place = await workplaceHere(t);
    await place.write('one.onnx', chain(FOUR_LAYERS));
    const options = ['--cut', 'layer', '--granularity', '1,2', ...QUICK, ...ONCE, ...AS_STORED];
    const { stdout, stderr, code } = await place.run(['dlbricks', 'sweep', 'one.onnx', ...options, '--wide']);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /│ model │ cut +│ G │ sequences │ unique │ estimate \(ms\) │ measured \(ms\) │ normalized │/);
    assert.equal(stdout.match(/^│ one +│ layer │ [12] │/gm)?.length, 2);
    assert.match(stdout, /unique: different sequences \(bricks\)/);
  });

  it('measures whole models once and each brick once, and has a row for each model, cut and length', async (t) => {
    const place = await workplaceHere(t);
    await place.write('one.onnx', chain(FOUR_LAYERS));
    await place.write('other.onnx', chain(['Relu', 'Sigmoid']));
    const options = ['--cut', 'layer,kernel', '--granularity', '1,2,auto', ...QUICK, ...ONCE, ...AS_STORED];
    const exports = ['--plots', 'plots', '--export-csv', 'rows.csv', '--export-json', '-'];
    const swept = await place.run(['dlbricks', 'sweep', ...MODELS, ...options, ...exports]);
    assert.equal(swept.code, 0, swept.stderr);
    const sweep = sweepSchema.parse(JSON.parse(swept.stdout));
    assert.deepEqual(
      sweep.configurations.map(({ cut, granularity, is_default: isDefault }) => [cut, granularity, isDefault]),
      [
        ['layer', 1, true],
        ['layer', 2, false],
        ['kernel', 1, true],
        ['kernel', 2, false],
      ],
    );
    for (const { cut, granularity, models, jaccard, summary } of sweep.configurations) {
      const what = `${cut} ${granularity}`;
      assert.deepEqual(
        models.map(({ model, coverage }) => [model, coverage]),
        [
          ['one', 1],
          ['other', 1],
        ],
        what,
      );
      for (const { constructed_ms: constructed, measured_ms: measured, normalized_latency: normalized } of models) {
        assert.ok(constructed !== null && measured !== null && normalized !== null, what);
        assert.ok(Math.abs(normalized - constructed / measured) < 1e-9, what);
      }
      assert.deepEqual([jaccard.length, jaccard[0]?.[0], jaccard[1]?.[1]], [2, 1, 1], what);
      assert.ok(summary.ratios.measured !== null, what);
    }
    const [first, second] = sweep.configurations;
    assert.deepEqual(
      second?.models.map(({ measured_ms: ms }) => ms),
      first?.models.map(({ measured_ms: ms }) => ms),
      'whole models are measured once for all',
    );
    assert.ok((second?.models[0]?.sequences ?? 0) < (first?.models[0]?.sequences ?? 0));

    // A header, two models in four configurations, and the end of the last line.
    assert.equal((await readFile(place.path('rows.csv'), 'utf8')).split('\r\n').length, 1 + 2 * 4 + 1);
    assert.deepEqual((await readdir(place.path('plots'))).sort(), [
      'jaccard-kernel-1.svg',
      'jaccard-kernel-2.svg',
      'jaccard-layer-1.svg',
      'jaccard-layer-2.svg',
      'normalized-kernel.svg',
      'normalized-layer.svg',
      'ratios.svg',
      'unique.svg',
    ]);

    const again = await place.run(['dlbricks', 'sweep', ...MODELS, ...options]);
    assert.equal(planIn(again).toMeasure, 0);
    assert.match(again.stdout, /cut +│ +G │/);
  });

  it('takes one evaluation, or models', async (t) => {
    const place = await workplaceHere(t);
    await place.write('one.onnx', chain(FOUR_LAYERS));
    const manifest = { dlspec: 'evaluation/v1', name: 'tiny', version: '1.0.0', models: ['one.onnx'] };
    await place.write('evaluation.yml', JSON.stringify(manifest));
    const both = await place.run(['dlbricks', 'sweep', 'evaluation.yml', 'one.onnx']);
    assert.equal(both.code, 2);
    assertOneMessage(both);
    assert.match(both.stderr, /one evaluation/);
  });

  it('refuses an unknown cut or length before it loads anything', async (t) => {
    const place = await workplaceHere(t);
    for (const [option, value, says] of [
      ['--cut', 'layer,graph', /expected kernel or layer, or both/],
      ['--granularity', '1,0', /granularity/],
      ['--granularity', 'all', /granularity/],
    ] as const) {
      const refused = await place.run(['dlbricks', 'sweep', 'missing.onnx', option, value]);
      assert.equal(refused.code, 2, value);
      assert.match(refused.stderr, says, value);
    }
  });
});
