import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused } from '../../rpc/support/refusal.js';
import { collect } from '../../../src/base/collect.js';
import { evaluateAll } from '../../../plugins/dlbricks/evaluate.js';
import type { EstimateRequest } from '../../../plugins/dlbricks/system-run.js';
import { runEstimation } from '../../../plugins/dlbricks/estimation.js';
import { buildReport } from '../../../plugins/dlbricks/report/report.js';
import type { EstimateResult } from '../../../plugins/dlbricks/report/evaluation-result.js';
import { settingsSchema } from '../../../plugins/dlbricks/settings.js';
import type { LoadedModel } from '../../../src/registry/load-model.js';
import { openMemoryStore } from '../../../src/store/memory/open.js';
import type { ResultStore } from '../../../src/store/result-store.js';
import { LIMITS, PROTOCOL } from '../../store/sample-measurement.js';
import { CALL_MS, driftingAgent } from './support/drifting-agent.js';
import { GraphBuilder } from './support/graph-builder.js';
import { evaluate, requestFor } from './support/evaluate.js';

/** Layers one after another on tensors of this width. The agent's kernels take the same time at each width. */
function chain(width: number, ...operators: readonly string[]): LoadedModel {
  const g = new GraphBuilder();
  let x = g.input('float32', [1, width]);
  for (const operator of operators) x = g.layer(operator, [x], [1, width]);
  const none = { symbols: [], notes: [], assumed: [], sizes: [] };
  return { name: `${operators.join('-')} ${width}`, model: g.model([x]), ...none };
}

const MEASURED = [4, 8, 16, 32, 64].map((width) => chain(width, 'Relu', 'Neg'));

const request = requestFor(MEASURED, { cut: 'kernel' });

/** A machine whose kernels take half to one and a half times as long as others like them. */
function unevenAgent(): ReturnType<typeof driftingAgent> {
  const agent = driftingAgent(1, 1);
  return {
    ...agent,
    async *measure(...asked: Parameters<typeof agent.measure>) {
      for await (const { index, measurement } of agent.measure(...asked)) {
        const { signature, context, outcome } = measurement;
        const factor = context === undefined ? 1 : 0.5 + parseInt(signature.slice(0, 2), 16) / 255;
        const runMs = outcome.kind === 'samples' ? outcome.runMs.map((ms) => ms * factor) : [];
        yield { index, measurement: { ...measurement, outcome: { ...outcome, kind: 'samples', runMs, warmupMs: [] } } };
      }
    },
  };
}

/** A machine on which other processes make the bricks of these occasions take three times as long. */
function disturbedAgent(...occasions: readonly number[]): ReturnType<typeof driftingAgent> {
  const agent = driftingAgent(1, 1);
  return {
    ...agent,
    async *measure(...asked: Parameters<typeof agent.measure>) {
      for await (const { index, measurement } of agent.measure(...asked)) {
        const { context, occasion, outcome } = measurement;
        if (context === undefined || outcome.kind === 'failure' || !occasions.includes(occasion)) {
          yield { index, measurement };
          continue;
        }
        const conditions = { wallMs: 100 + occasion, cores: 1, othersMs: 60 };
        const slower = { ...outcome, runMs: outcome.runMs.map((ms) => 3 * ms) };
        yield { index, measurement: { ...measurement, conditions, outcome: slower } };
      }
    },
  };
}

async function run(
  store: ResultStore,
  changes: Partial<EstimateRequest> = {},
  agent = driftingAgent(0.99, 1.01),
): Promise<{ readonly result: EstimateResult; readonly asked: number }> {
  const { signal } = new AbortController();
  const result = await evaluate({ ...request, ...changes }, { agent, store, signal, onEvent: () => undefined });
  return { result, asked: agent.asked.length };
}

async function storeWithMeasurements(): Promise<ResultStore> {
  const store = await openMemoryStore();
  await run(store);
  return store;
}

async function countKernels(store: ResultStore): Promise<number> {
  const kernels = (await store.listCollections()).find(({ name }) => name === 'dlbricks_kernels') ?? assert.fail();
  const { looseObject } = (await import('zod')).z;
  const documents = await collect(store.collection({ ...kernels, schema: looseObject({}) }).find({}));
  return documents.length;
}

function estimateIn({ models: [model] }: EstimateResult): EstimateResult['models'][number]['estimate'] {
  return model?.estimate ?? assert.fail();
}

function reported(result: EstimateResult): ReturnType<typeof buildReport>['models'][number] {
  const [model] = buildReport(result, { cut: 'kernel', granularity: 1, batch: 1, protocol: PROTOCOL }).models;
  return model ?? assert.fail();
}

describe('an evaluation that measures nothing', () => {
  test('predicts bricks from measured ones, with an interval that holds, and says their share', async () => {
    const store = await storeWithMeasurements();
    const models = [chain(24, 'Relu', 'Neg', 'Relu')];
    const { result, asked } = await run(store, { models, measure: 'none' });
    assert.equal(asked, 0);
    const { sequential, isWhole, coverage, predictedMs, missing } = estimateIn(result);
    assert.deepEqual([isWhole, coverage, missing], [true, 0, []]);
    const expectedMs = 1 + 2 + 1 + CALL_MS;
    assert.ok(Math.abs((sequential?.ms ?? NaN) / expectedMs - 1) < 0.1, `${sequential?.ms} ms`);
    assert.ok((sequential?.lowMs ?? NaN) < expectedMs && expectedMs < (sequential?.highMs ?? NaN));
    assert.ok(Math.abs(predictedMs - (sequential?.ms ?? NaN) + CALL_MS) < 1e-9);
    const report = reported(result);
    assert.ok(Math.abs(report.predicted_percent - (100 * predictedMs) / (sequential?.ms ?? NaN)) < 1e-9);
    assert.ok(report.bricks.every((brick) => brick.is_predicted && brick.occasions === 0));
  });

  test('predicts nothing of an operator that was never measured, and says so', async () => {
    const models = [chain(24, 'Relu', 'Exp')];
    const { result } = await run(await storeWithMeasurements(), { models, measure: 'none' });
    const { isWhole, missing } = estimateIn(result);
    assert.equal(isWhole, false);
    assert.deepEqual(
      missing.map(({ operators }) => operators),
      [['Exp']],
    );
    assert.match(
      missing[0]?.reason ?? '',
      /0 kernels like this Exp were measured undisturbed on this system, and 3 are needed/,
    );
  });

  test('uses all occasions of measured bricks', async () => {
    const store = await storeWithMeasurements();
    const { result, asked } = await run(store, { measure: 'none' });
    assert.equal(asked, 0);
    assert.deepEqual(new Set(estimateIn(result).parts.map(({ occasions }) => occasions)), new Set([2]));
    assert.equal(estimateIn(result).predictedMs, 0);
    assert.equal(reported(result).limited_by, null);
  });

  test('learns what bricks of a store of an earlier version compute from models that have them', async () => {
    const store = await storeWithMeasurements();
    const kernels = (await store.listCollections()).find(({ name }) => name === 'dlbricks_kernels') ?? assert.fail();
    const documents = store.collection({ ...kernels, schema: (await import('zod')).z.looseObject({}) });
    await documents.delete({});
    const variant = chain(24, 'Relu', 'Neg');
    const alone = await run(store, { models: [variant], measure: 'none' });
    assert.equal(estimateIn(alone.result).isWhole, false);
    await documents.delete({});
    const together = await run(store, { models: [variant, ...MEASURED], measure: 'none' });
    assert.equal(estimateIn(together.result).isWhole, true);
    // They are kept.
    assert.equal(estimateIn((await run(store, { models: [variant], measure: 'none' })).result).isWhole, true);
  });

  test('in a store without repeats has no interval, and says why', async () => {
    const store = await openMemoryStore();
    await run(store, { precision: { targetError: 0.05, repeatLimit: 0, leastRepeatMs: 0 } });
    const { result } = await run(store, { models: [chain(24, 'Relu')], measure: 'none' });
    const { sequential } = estimateIn(result);
    assert.ok((sequential?.ms ?? 0) > 0);
    assert.equal(sequential?.highMs, undefined);
    assert.match(result.spreads.reason ?? '', /measured once/);
  });

  test('of several cells reads what the store knows once, and keeps no kernels that nothing measured', async (t) => {
    const store = await storeWithMeasurements();
    const before = await countKernels(store);
    const collection = t.mock.method(store, 'collection');
    const widths = [20, 24, 28, 36];
    const requests = widths.map((width): EstimateRequest => {
      return { ...request, models: [chain(width, 'Relu')], measure: 'none' };
    });
    const { signal } = new AbortController();
    const agent = driftingAgent(0.99, 1.01);
    const results = await evaluateAll(requests, { agent, store, signal, onEvent: () => undefined });
    const readings = collection.mock.calls.filter(({ arguments: [{ name }] }) => name === 'dlbricks_kernels');
    assert.equal(readings.length, 1);
    assert.equal(await countKernels(store), before);
    const names = results.flatMap(({ models }) => models.map(({ estimate }) => estimate.name));
    assert.deepEqual(
      names,
      widths.map((width) => `Relu ${width}`),
    );
    assert.ok(results.every((result) => estimateIn(result).isWhole));
  });

  test('uses the others of bricks of which some measurements were disturbed', async () => {
    const store = await openMemoryStore();
    await run(store, { remeasure: { kind: 'none' } }, disturbedAgent(1));
    const { predictedMs } = estimateIn((await run(store, { models: [chain(24, 'Relu')], measure: 'none' })).result);
    assert.ok(Math.abs(predictedMs - 1) < 0.1, `${predictedMs} ms`);
  });

  test('predicts nothing from disturbed measurements alone, and says so', async () => {
    const store = await openMemoryStore();
    await run(store, { remeasure: { kind: 'none' } }, disturbedAgent(1, 2));
    const { missing } = estimateIn((await run(store, { models: [chain(24, 'Relu')], measure: 'none' })).result);
    assert.match(missing[0]?.reason ?? '', /0 kernels like this Relu were measured undisturbed on this system/);
  });

  test('of an empty store has no estimate', async () => {
    const { result } = await run(await openMemoryStore(), { models: [chain(24, 'Relu')], measure: 'none' });
    assert.equal(estimateIn(result).sequential, undefined);
    assert.equal(estimateIn(result).missing.length, 2);
  });
});

describe('an evaluation that measures the largest bricks', () => {
  const models = [chain(24, 'Relu', 'Neg', 'Exp', 'Relu')];

  test('measures those that cannot be predicted, and predicts the others where the interval is narrow enough', async () => {
    const precision = { targetError: 1, repeatLimit: 0, leastRepeatMs: 0 };
    const { result } = await run(await storeWithMeasurements(), { models, measure: 'largest', precision });
    const { parts, isWhole } = estimateIn(result);
    assert.ok(isWhole);
    const measured = parts.filter(({ occasions }) => occasions > 0);
    assert.deepEqual(
      measured.map(({ operators }) => operators),
      [['Exp']],
    );
  });

  test('measures all where the interval asked for is narrower than predictions allow', async () => {
    const precision = { targetError: 1e-6, repeatLimit: 1, leastRepeatMs: 0 };
    const store = await openMemoryStore();
    const variants = [4, 8, 16, 32, 64].map((width) => chain(width, 'Exp', 'Abs', 'Neg'));
    await run(store, { models: variants }, unevenAgent());
    const wanted = [chain(24, 'Exp', 'Abs', 'Neg')];
    const coverageOf = async (targetError: number): Promise<number> => {
      const asked = { models: wanted, measure: 'largest', precision: { ...precision, targetError } } as const;
      return estimateIn((await run(store, asked, unevenAgent())).result).coverage;
    };
    assert.equal(await coverageOf(10), 0);
    assert.equal(await coverageOf(1e-6), 1);
  });

  test('measures bricks of the store again only where that is asked for', async () => {
    const store = await openMemoryStore();
    await run(store, {}, unevenAgent());
    const precision = { targetError: 1e-6, repeatLimit: 0, leastRepeatMs: 0 };
    const known = await run(store, { measure: 'largest', precision }, unevenAgent());
    assert.equal(known.asked, 0);
    const again = await run(store, { measure: 'largest', precision, remeasure: { kind: 'all' } }, unevenAgent());
    assert.ok(again.asked > 0);
    assert.equal(again.result.costs?.bricksFirst.beforeMs, 0);
    assert.equal(estimateIn(again.result).coverage, 1);
  });
});

describe('settings that exclude each other are refused', () => {
  for (const [settings, named] of [
    [{ measure: 'none', measure_end_to_end: true }, 'measure_end_to_end'],
    [{ measure: 'none', check: true }, 'check'],
    [{ measure: 'none', remeasure: 'all' }, 'remeasure: all'],
    [{ measure: 'largest', cut: 'layer' }, 'cut: layer'],
  ] as const) {
    test(`${settings.measure} with ${named}`, async () => {
      const store = await openMemoryStore();
      const context = { agent: driftingAgent(), store, signal: new AbortController().signal, onEvent: () => undefined };
      const estimation = {
        models: MEASURED,
        settings: settingsSchema.parse(settings),
        threads: 1,
        batch: 1,
        protocol: PROTOCOL,
        limits: LIMITS,
        startMs: 0,
      };
      await assertRefused(runEstimation(estimation, context), 'usage', named);
    });
  }
});
