import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deadline, workplace, type Workplace } from './support/command.js';
import { planIn, reportIn } from './support/report.js';
import { chain, failsOnlyAsAWhole, LAYER_CUT, QUICK } from './support/tiny-models.js';

const WITH_FOREIGN_OPERATOR = ['Relu', 'no.runtime:Mystery', 'Relu'] as const;

/** A model that works beside one that does not. */
async function models(place: Workplace, broken: Uint8Array): Promise<readonly string[]> {
  await place.write('good.onnx', chain(['Relu', 'Tanh']));
  await place.write('broken.onnx', broken);
  return ['good.onnx', 'broken.onnx'];
}

describe('a brick that fails', { ...deadline, concurrency: 2 }, () => {
  it('is listed with its reason, and the estimate covers the rest', async (t) => {
    const place = await workplace(t);
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
    const place = await workplace(t);
    const names = await models(place, chain(WITH_FOREIGN_OPERATOR));
    const { stdout, stderr } = await place.run(['dlbricks', 'validate', ...names, ...LAYER_CUT, ...QUICK]);
    assert.match(stderr, /^warning: broken: Mystery: unsupported: .*Mystery/m);
    assert.match(stdout, /^ {2}broken: missing 1 x Mystery \(1x8\): unsupported: .*Mystery/m);
    assert.match(stdout, /│ broken .*│ +part: \d+\.\d+ │.*│ +66\.7 % │/);
  });

  it('is not tried again by the next run', async (t) => {
    const place = await workplace(t);
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

describe('a model that fails as a whole', { ...deadline, concurrency: 2 }, () => {
  it('has an estimate, no end-to-end latency, and the reason', async (t) => {
    const place = await workplace(t);
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
