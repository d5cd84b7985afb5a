import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deadline, type StartOptions, type Workplace } from './support/command.js';
import { reportIn } from './support/report.js';
import { chain, FOUR_LAYERS, LAYER_CUT, QUICK } from './support/tiny-models.js';
import { workplaceHere } from './support/workplace-here.js';

async function measure(place: Workplace, operators: readonly string[]) {
  await place.write('measured.onnx', chain(operators));
  return place.run(['dlbricks', 'validate', 'measured.onnx', ...LAYER_CUT, ...QUICK, '--export-json', '-']);
}

/** Composes the model of four layers. */
async function composeUnder(env: NonNullable<StartOptions['env']>, place: Workplace, ...options: readonly string[]) {
  await place.write('four.onnx', chain(FOUR_LAYERS));
  return place.run(['dlbricks', 'compose', 'four.onnx', ...LAYER_CUT, ...QUICK, ...options], { env });
}

const compose = (place: Workplace, ...options: readonly string[]) => composeUnder({}, place, ...options);

/** Composes the same model for a user without a store. */
function composeWithoutStore(place: Workplace, ...options: readonly string[]) {
  return composeUnder({ MLMODELSCOPE_STORE: undefined, XDG_DATA_HOME: place.path('data') }, place, ...options);
}

describe('dlbricks compose before anything has been measured', { ...deadline, concurrency: 2 }, () => {
  it('covers nothing, lists all bricks as missing, and makes up no figure', async (t) => {
    const ending = await composeWithoutStore(await workplaceHere(t), '--export-json', '-');
    assert.equal(ending.code, 3);
    const { models, summary } = reportIn(ending);
    const [model] = models;
    assert.equal(model?.coverage, 0);
    const { estimate_ms, estimate_low_ms, estimate_high_ms, parallel_ms, end_to_end_ms, normalized_latency } = model;
    const figures = [estimate_ms, estimate_low_ms, estimate_high_ms, parallel_ms, end_to_end_ms, normalized_latency];
    assert.deepEqual(
      figures,
      figures.map(() => null),
    );
    assert.deepEqual(model.missing.map(({ operators, sequences }) => [operators.join(), sequences]).sort(), [
      ['Relu', 2],
      ['Sigmoid', 1],
      ['Tanh', 1],
    ]);
    const { costs, ratios, geomean_normalized_latency, mape_percent } = summary;
    assert.deepEqual([costs, geomean_normalized_latency, mape_percent], [null, null, null]);
    assert.deepEqual(ratios, { paper: null, measured: null, as_run: null });
  });

  it('shows no figure in the table either', async (t) => {
    const { stdout } = await composeWithoutStore(await workplaceHere(t));
    assert.match(stdout, /│ four +│ +- │ +0\.0 % │/);
  });

  it('names the measurements that would count', async (t) => {
    const { stderr } = await composeWithoutStore(await workplaceHere(t));
    assert.match(stderr, /^note: only measurements of this system with 1 warm-up runs, 3 runs .*'dlbricks run'/m);
  });
});

describe('dlbricks compose', { ...deadline, concurrency: 2 }, () => {
  it('marks an estimate that covers a part of its model', async (t) => {
    const place = await workplaceHere(t);
    await measure(place, ['Relu', 'Sigmoid']);
    const { stdout, code } = await compose(place);
    assert.equal(code, 3);
    assert.match(stdout, /│ four +│ +part: \d+\.\d+ ± [^│]+│ +75\.0 % │/);
    assert.match(stdout, /^ {2}four: missing 1 x Tanh \(1x8\): /m);
  });

  it('gives the same estimate from a full store as validating, and measures nothing', async (t) => {
    const place = await workplaceHere(t);
    const validated = await measure(place, FOUR_LAYERS);
    const composed = await compose(place, '--export-json', '-', '--quiet');
    assert.deepEqual([composed.code, composed.stderr], [0, '']);
    const estimateOf = (ending: typeof composed) => {
      const { estimate_ms, estimate_low_ms, estimate_high_ms, parallel_ms, dimensions } =
        reportIn(ending).models[0] ?? {};
      return { estimate_ms, estimate_low_ms, estimate_high_ms, parallel_ms, dimensions };
    };
    assert.deepEqual(estimateOf(composed), estimateOf(validated));
    assert.deepEqual(estimateOf(composed).dimensions, [{ name: 'batch', size: 1 }]);
  });

  it('takes the measurements of the system that is asked for', async (t) => {
    const place = await workplaceHere(t);
    const { fingerprint } = reportIn(await measure(place, FOUR_LAYERS)).system;
    const { code, stdout } = await compose(place, '--system', fingerprint.slice(0, 8), '--export-json', '-');
    assert.equal(code, 0);
    assert.equal(reportIn({ stdout }).system.fingerprint, fingerprint);
  });

  it('lists the systems of the store where it does not have the one asked for', async (t) => {
    const place = await workplaceHere(t);
    const { fingerprint } = reportIn(await measure(place, FOUR_LAYERS)).system;
    const { code, stderr } = await compose(place, '--system', 'zzz');
    assert.equal(code, 2);
    assert.match(
      stderr,
      /^--system zzz: none of the store's systems has a fingerprint that begins so; the store has:\n/,
    );
    assert(stderr.includes(fingerprint.slice(0, 12)));
  });
});
