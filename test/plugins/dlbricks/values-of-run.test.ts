import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import type { Estimated } from '../../../plugins/dlbricks/estimation.js';
import { type CutSettings, decompose } from '../../../plugins/dlbricks/bricks/decompose.js';
import type { BenchmarkAgent } from '../../../src/agent/benchmark-agent.js';
import { withOwnWeights } from '../../../src/agent/own-weights.js';
import { weightlessBenchmark } from '../../../src/measurement/weightless.js';
import { buildRunOptions } from '../../../src/measurement/system.js';
import { loadModel, type LoadedModel } from '../../../src/registry/load-model.js';
import { openMemoryStore } from '../../../src/store/memory/open.js';
import { agentForSuite } from '../../agent/support/running-agent.js';
import { countingLoop, detectorTail, givenLoop } from './support/detector-tail.js';
import { estimateOnce } from './support/estimate-once.js';
import { temporaryFolder } from '../../store/temporary-folder.js';

const folder = await temporaryFolder({ after });

const PROTOCOL = { warmupRuns: 1, runs: 5, minRuns: 3, timeBudgetMs: 2000 };
const signal = new AbortController().signal;

function load(name: string, bytes: Uint8Array): Promise<LoadedModel> {
  const path = join(folder, `${name}.onnx`);
  writeFileSync(path, bytes);
  return loadModel(path, { batch: 1 });
}

describe('values of one run', { timeout: 600_000 }, () => {
  const weightFiles = new Map<string, string>();
  const agent = agentForSuite({ weightFiles });

  /** The agent of the command, which can read the model's file. */
  const local = (changes: Partial<BenchmarkAgent> = {}): BenchmarkAgent => ({
    ...agent().client,
    offerWeights(path) {
      weightFiles.set(path, path);
      return path;
    },
    ...changes,
  });

  function estimate(
    models: readonly LoadedModel[],
    given: object,
    { store, of = local() }: { store?: Awaited<ReturnType<typeof openMemoryStore>>; of?: BenchmarkAgent } = {},
  ): Promise<Estimated> {
    return estimateOnce(models, { measure_end_to_end: true, ...given }, { agent: of, protocol: PROTOCOL, store });
  }

  const msOf = ({ report }: Estimated, operator: string): number =>
    (report.models[0]?.bricks ?? [])
      .filter(({ operators }) => operators.includes(operator))
      .reduce((sum, { latency_ms: ms, sequences }) => sum + (ms ?? 0) * sequences, 0);

  for (const inBranch of [false, true]) {
    const operator = inBranch ? 'If' : 'NonMaxSuppression';

    test(`make the tail of a detector right, and without them the report says why it is not (${operator})`, async () => {
      const tail = await load(`tail-${operator}`, detectorTail({ boxes: 3000, inBranch }));
      const madeUp = await estimate([tail], {});
      const ofRun = await estimate([tail], { values: 'run' });
      const without = madeUp.report.models[0];
      const withRun = ofRun.report.models[0];
      assert.ok(without?.made_up_values?.operators.some((one) => one.operator.includes('NonMaxSuppression')));
      assert.ok((without?.coverage ?? 1) < 1 && without?.estimate_high_ms === null);
      assert.deepEqual(
        madeUp.report.warnings.flatMap(({ cause }) => (cause === 'values' ? [cause] : [])),
        ['values'],
      );
      assert.deepEqual([withRun?.made_up_values, withRun?.values_of_run, withRun?.coverage], [null, 'own', 1]);
      // 3,000 boxes that all stay take 4.5 million comparisons, 30 to 100 times as long as made-up ones.
      assert.ok(msOf(ofRun, operator) > 5 * msOf(madeUp, operator));
      const normalized = withRun?.normalized_latency ?? 0;
      // Other tests run at the same time; without the values of the run it is below 0.05.
      assert.ok(normalized > 0.15 && normalized < 7, `${normalized}`);
    });
  }

  test('are given to bricks of several kernels and of the layer cut, too', async () => {
    const tail = await load('tail-longer', detectorTail({ boxes: 2000 }));
    const madeUp = await estimate([tail], { measure_end_to_end: false });
    for (const settings of [{ granularity: 8 }, { cut: 'layer', granularity: 4 }]) {
      const longer = await estimate([tail], { values: 'run', measure_end_to_end: false, ...settings });
      const ratio = msOf(longer, 'NonMaxSuppression') / msOf(madeUp, 'NonMaxSuppression');
      assert.ok(ratio > 5, `${JSON.stringify(settings)} ${ratio}`);
      assert.equal(longer.report.models[0]?.made_up_values, null);
    }
  });

  test('are part of signatures, and stay out of other bricks', async () => {
    const one = await load('one', detectorTail({ boxes: 500 }));
    const other = await load('other', detectorTail({ boxes: 500, seed: 9 }));
    const signaturesOf = async (loaded: LoadedModel) => {
      const own = await withOwnWeights(weightlessBenchmark(loaded.model), loaded.weights, local());
      const settings: CutSettings = { cut: 'layer', values: 'run', runOptions: buildRunOptions(1) };
      const { decomposed } = await decompose(loaded, settings, local(), signal, { own });
      return new Map(decomposed.bricks.map(({ operators, signature }) => [operators.join(), signature]));
    };
    const first = await signaturesOf(one);
    const second = await signaturesOf(other);
    const differing = [...first].flatMap(([operator, signature]) =>
      second.get(operator) === signature ? [] : [operator],
    );
    assert.deepEqual(differing, ['NonMaxSuppression']);
    assert.deepEqual(first, await signaturesOf(one));
  });

  test('say that the shapes of a kernel do not tell its time', async () => {
    const tail = await load('tail-facts', detectorTail({ boxes: 300 }));
    const own = await withOwnWeights(weightlessBenchmark(tail.model), tail.weights, local());
    const steeredIn = async (settings: Partial<CutSettings>): Promise<readonly string[]> => {
      const asked: CutSettings = { cut: 'kernel', runOptions: buildRunOptions(1), ...settings };
      const { decomposed } = await decompose(tail, asked, local(), signal, { own });
      return decomposed.facts.flat().flatMap(({ operator, isSteered }) => (isSteered === true ? [operator] : []));
    };
    assert.deepEqual(await steeredIn({ values: 'run' }), ['NonMaxSuppression']);
    assert.deepEqual(await steeredIn({}), []);
  });

  test('are the trip counts of loops', async () => {
    const loop = await load('loop', countingLoop());
    const own = await withOwnWeights(weightlessBenchmark(loop.model), loop.weights, local());
    const settings: CutSettings = { cut: 'kernel', values: 'run', runOptions: buildRunOptions(1) };
    const { decomposed } = await decompose(loop, settings, local(), signal, { own });
    const brick = decomposed.bricks.find(({ operators }) => operators.includes('Loop'));
    const trips = brick?.inputs.find(({ elementType }) => elementType === 'int64');
    assert.deepEqual([trips?.isGiven, trips?.fill.low, trips?.fill.high], [true, 3, 3]);
    assert.equal(decomposed.recipe.made_up_values, undefined);
  });

  test('are those that follow from given inputs also without --values-of-run, at both cuts', async () => {
    const path = join(folder, 'given.onnx');
    writeFileSync(path, givenLoop());
    for (const cut of ['kernel', 'layer'] as const) {
      const settings: CutSettings = { cut, runOptions: buildRunOptions(1) };
      const inputs = new Map([['n', { kind: 'values', values: { low: 40, high: 40 } }]] as const);
      const given = await loadModel(path, { batch: 1, inputs });
      const { decomposed } = await decompose(given, settings, agent().client, signal);
      const loop = decomposed.bricks.find(({ operators }) => operators.includes('Loop'));
      const trips = loop?.inputs.find(({ elementType }) => elementType === 'int64');
      assert.deepEqual([trips?.isGiven, trips?.fill.low, trips?.fill.high], [true, 80, 80], cut);
      assert.equal(decomposed.recipe.made_up_values, undefined);
      const assumed = await loadModel(path, { batch: 1 });
      const { decomposed: without } = await decompose(assumed, settings, agent().client, signal);
      assert.deepEqual(without.recipe.made_up_values?.operators, [{ operator: 'Loop', count: 1 }]);
    }
  });

  test('are made up if no file has the weights, and the report says so', async () => {
    const loop = await load('loop-sent', countingLoop());
    const { report } = await estimate([{ ...loop, weights: undefined }], { values: 'run', measure_end_to_end: false });
    const [model] = report.models;
    assert.deepEqual(
      [model?.values_of_run, model?.made_up_values],
      ['made up', { operators: [{ operator: 'Loop', count: 1 }], kernels: 1 }],
    );
    assert.match(report.warnings.find(({ cause }) => cause === 'values')?.message ?? '', /no file .* has the weights/);
  });

  test('are not needed for sizes: a graph that runs only with its own weights has the sizes of this run', async () => {
    const tail = await load('tail-empty', detectorTail({ boxes: 300 }));
    for (const cut of ['layer', 'kernel'] as const) {
      const { report } = await estimate([tail], { cut, measure_end_to_end: false });
      const [model] = report.models;
      assert.deepEqual([model?.missing, model?.values_of_run], [[], null]);
      assert.ok(model?.made_up_values !== null);
      const relu = report.models[0]?.bricks.find(({ operators }) => operators.includes('Relu'));
      // A small kernel may take less than the profile's own cost.
      assert.ok((relu?.latency_ms ?? -1) >= 0);
    }
  });

  test('check: each kernel of one run of the whole graph is beside its brick, and the store keeps the run', async () => {
    const tail = await load('tail-checked', detectorTail({ boxes: 1000 }));
    const store = await openMemoryStore();
    let traces = 0;
    const of = local({
      trace: (...request) => {
        traces++;
        return agent().client.trace(...request);
      },
    });
    const asked = { values: 'run', check: true, measure_end_to_end: false };
    const { report } = await estimate([tail], asked, { store, of });
    const check = report.models[0]?.check;
    assert.equal(check?.failure, null);
    assert.equal(check.bricks.length, report.models[0]?.unique_bricks);
    // The suppression has the run's boxes in the whole graph as well.
    const [largest] = check.bricks.toSorted((a, b) => (b.kernels_ms ?? 0) - (a.kernels_ms ?? 0));
    assert.deepEqual(largest?.operators, ['NonMaxSuppression']);
    const ratio = (largest?.bricks_ms ?? 0) / (largest?.kernels_ms ?? 1);
    assert.ok(ratio > 0.15 && ratio < 7, `${ratio}`);
    await estimate([tail], asked, { store, of });
    assert.equal(traces, 1);
    await estimate([tail], { ...asked, remeasure: 'all' }, { store, of });
    assert.equal(traces, 2);
  });

  test('check: says why bricks of the layer cut are not checked', async () => {
    const tail = await load('tail-layers', detectorTail({ boxes: 300 }));
    const { report } = await estimate([tail], { cut: 'layer', check: true, measure_end_to_end: false });
    assert.match(report.models[0]?.check?.failure ?? '', /layer cut/);
  });
});
