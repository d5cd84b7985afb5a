import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { groupObservations } from '../../../../plugins/dlbricks/estimate/brick-latency.js';
import { compose } from '../../../../plugins/dlbricks/estimate/compose.js';
import { measureSuite } from '../../../../plugins/dlbricks/measure/measure-suite.js';
import type { MeasureSettings } from '../../../../plugins/dlbricks/measure/tasks.js';
import { readRecipe } from '../../../../plugins/dlbricks/bricks/recipe.js';
import { readResults, resultsText } from '../../../../plugins/dlbricks/exchange/results-file.js';
import { readSuite, writeSuite } from '../../../../plugins/dlbricks/exchange/suite.js';
import { uniqueBricks } from '../../../../plugins/dlbricks/bricks/unique-bricks.js';
import { createFakeAgent } from '../../../support/fake-agent.js';
import { roughMsOfBrick } from '../../../../plugins/dlbricks/cut/rough-time.js';
import { outputCopy } from '../../../../plugins/dlbricks/bricks/output-copy.js';
import type { EvaluationEvent } from '../../../../src/evaluation/event.js';
import type { Measurement } from '../../../../src/measurement/measurement.js';
import type { RunOptions } from '../../../../src/measurement/system.js';
import { openMemoryStore } from '../../../../src/store/memory/open.js';
import { conditionsBeside } from '../../../store/measured-beside.js';
import { LIMITS, PROTOCOL, sampleMeasurement, sampleSystem } from '../../../store/sample-measurement.js';
import { temporaryFolder } from '../../../store/temporary-folder.js';
import { loadedChain, preparedChain } from '../support/chain-model.js';
import { assertRefused } from '../../../rpc/support/refusal.js';
import { evaluate, requestFor } from '../support/evaluate.js';
import { identifySystem } from '../../../../src/measurement/system.js';

const OPERATORS = ['Relu', 'Neg', 'Relu', 'Abs'];
const RUN_OPTIONS: RunOptions = { threads: 1, executionProvider: 'cpu', optimizationLevel: 'all' };
const SETTINGS: MeasureSettings = { runOptions: RUN_OPTIONS, protocol: PROTOCOL, limits: LIMITS };

function newAgent() {
  return createFakeAgent({ latencyOf: ({ signature }) => 1 + parseInt(signature.slice(0, 4), 16) / 4096 });
}

/** Runs without callbacks. */
const unwatched = { signal: new AbortController().signal, onEvent: () => undefined };

async function readingResults(t: TestContext, text: string): Promise<readonly Measurement[]> {
  const path = join(await temporaryFolder(t), 'results.json');
  await writeFile(path, text);
  return readResults(path);
}

test('a suite that was measured elsewhere composes to the same estimates as its models at home', async (t) => {
  const folder = await temporaryFolder(t);
  const model = preparedChain('model', ...OPERATORS);
  const recipe = {
    format: 'dlbricks-recipe/1',
    cut: 'layer',
    granularity: 1,
    batch: 1,
    models: [model.recipe],
  } as const;
  await writeSuite(
    folder,
    { cut: 'layer', granularity: 1, bricks: uniqueBricks([model]), calls: [], outputCopies: [] },
    { ...recipe, models: [...recipe.models] },
  );

  // Elsewhere: the suite is all there is.
  const suite = await readSuite(join(folder, 'suite'));
  const elsewhere = await measureSuite(suite, SETTINGS, {
    agent: newAgent(),
    store: await openMemoryStore(),
    ...unwatched,
  });
  const text = resultsText(elsewhere.measurements);

  // At home: the recipe and the results.
  const measurements = groupObservations(await readingResults(t, text));
  const [kept] = (await readRecipe(join(folder, 'recipe.json'))).models;
  assert.ok(kept !== undefined);
  const request = requestFor([loadedChain('model', ...OPERATORS)], SETTINGS);
  const { models } = await evaluate(request, { agent: newAgent(), store: await openMemoryStore(), ...unwatched });
  const atHome = models[0]?.estimate;
  assert.ok(atHome !== undefined);
  // A recipe has no names of layers.
  const placed = atHome.placed.map((sequence) => ({ ...sequence, kernels: undefined }));
  assert.deepEqual(compose({ recipe: kept, context: undefined }, measurements), { ...atHome, placed });
});

describe('measuring a suite', () => {
  const model = preparedChain('model', ...OPERATORS);
  const suite = { cut: 'layer', granularity: 1, bricks: model.bricks, calls: [], outputCopies: [] } as const;

  test('a second time measures nothing and gives the same results', async () => {
    const context = { agent: newAgent(), store: await openMemoryStore(), ...unwatched };
    const first = await measureSuite(suite, SETTINGS, context);
    const second = await measureSuite(suite, SETTINGS, context);

    assert.deepEqual([first.measured, second.measured], [3, 0]);
    assert.deepEqual(second.measurements, first.measurements);
    assert.deepEqual(
      first.measurements.map(({ signature }) => signature),
      model.bricks.map(({ signature }) => signature),
    );
  });

  test('takes measurements again that others disturbed', async () => {
    const conditions = conditionsBeside(0);
    const agent = createFakeAgent({ latencyOf: () => 1, conditionsOf: () => conditions });
    const context = { agent, store: await openMemoryStore(), ...unwatched };
    const [first] = (await measureSuite(suite, SETTINGS, context)).measurements;
    assert.ok(first !== undefined);
    await context.store.putMeasurement({ ...first, conditions: { ...conditions, othersMs: 900 } });
    const { measured, measurements } = await measureSuite(suite, SETTINGS, context);
    assert.deepEqual([measured, measurements[0]], [1, first]);
  });

  test('takes all measurements again where that is asked for', async () => {
    const context = { agent: newAgent(), store: await openMemoryStore(), ...unwatched };
    await measureSuite(suite, SETTINGS, context);
    assert.equal((await measureSuite(suite, SETTINGS, context, { kind: 'all' })).measured, 3);
    assert.equal(context.agent.measured.length, 6);
  });

  test('says how far it is', async () => {
    const seen: (readonly [done: number, total: number])[] = [];
    const onEvent = (event: EvaluationEvent): void => {
      if (event.kind === 'measuring') seen.push([event.done, event.total]);
    };
    await measureSuite(suite, SETTINGS, { ...unwatched, agent: newAgent(), store: await openMemoryStore(), onEvent });
    assert.deepEqual([...new Set(seen.map(([done]) => done))], [0, 1, 2]);
    assert.ok(seen.every(([, total]) => total === 3));
  });

  test('that is interrupted says so', async () => {
    const context = { agent: newAgent(), store: await openMemoryStore(), ...unwatched, signal: AbortSignal.abort() };
    const { measured, interrupted, measurements } = await measureSuite(suite, SETTINGS, context);
    assert.deepEqual([measured, interrupted, measurements], [0, true, []]);
  });
});

describe('a suite’s measurements', () => {
  const model = preparedChain('model', ...OPERATORS);
  const suite = { cut: 'kernel', granularity: 1, bricks: model.bricks, calls: [], outputCopies: [] } as const;

  test('are announced with their number and the number of known ones', async () => {
    const planned: unknown[] = [];
    const onEvent = (event: EvaluationEvent): void => void (event.kind === 'planned' && planned.push(event));
    const context = { ...unwatched, agent: newAgent(), store: await openMemoryStore(), onEvent };
    await measureSuite({ ...suite, bricks: suite.bricks.slice(0, 1) }, SETTINGS, context);
    const { system } = await measureSuite(suite, SETTINGS, context);
    const summaries = [
      '1 unique brick; 1 measurement to take, 0 known already',
      '3 unique bricks; 2 measurements to take, 1 known already',
    ];
    assert.deepEqual(planned, [
      { kind: 'planned', summary: summaries[0], known: 0, toMeasure: 1 },
      { kind: 'planned', summary: summaries[1], known: 1, toMeasure: 2 },
    ]);
    assert.deepEqual(system, identifySystem(context.agent.description, RUN_OPTIONS));
  });

  test('include both graphs of outputs that are handed over', async () => {
    const types = [{ elementType: 'float32', dims: [2, 128, 128] }] as const;
    const handed = outputCopy(types) ?? assert.fail('nothing is handed over');
    const context = { agent: newAgent(), store: await openMemoryStore(), ...unwatched };
    const { measurements } = await measureSuite({ ...suite, bricks: [], outputCopies: [types] }, SETTINGS, context);
    assert.deepEqual(
      measurements.map(({ signature }) => signature),
      [handed.returned.signature, handed.kept.signature],
    );
  });

  test('include none for outputs that cost nothing', async () => {
    const types = [{ elementType: 'float32', dims: [4] }] as const;
    const context = { agent: newAgent(), store: await openMemoryStore(), ...unwatched };
    const { measurements } = await measureSuite({ ...suite, bricks: [], outputCopies: [types] }, SETTINGS, context);
    assert.deepEqual(measurements, []);
  });

  test('together with others have the footprint of their model, and are taken twice', async () => {
    const bricks = suite.bricks.map((brick) => ({ ...brick, footprintBytes: 2 ** 24 }));
    const agent = newAgent();
    const asked: unknown[] = [];
    const measure: typeof agent.measure = (requests, options) => {
      for (const { occasion, modelBytes, context, roughMs } of requests) {
        asked.push([occasion, modelBytes, context, roughMs]);
      }
      return agent.measure(requests, options);
    };
    const context = { agent: { ...agent, measure }, store: await openMemoryStore(), ...unwatched };
    await measureSuite({ ...suite, bricks }, SETTINGS, context);
    const on = (occasion: number) => {
      return bricks.map((brick) => [occasion, 2 ** 24, { footprintBytes: 2 ** 24 }, roughMsOfBrick(brick)]);
    };
    assert.deepEqual(asked, [...on(1), ...on(2)]);
  });

  test('need a profile if a single brick is measured together with others', async () => {
    const [first = assert.fail(), ...others] = suite.bricks;
    const bricks = [...others, { ...first, footprintBytes: 2 ** 24 }];
    const agent = createFakeAgent({ latencyOf: () => 1, measuresTogether: false });
    const context = { agent, store: await openMemoryStore(), ...unwatched };
    await assertRefused(measureSuite({ ...suite, bricks }, SETTINGS, context), 'unsupported', /profile/, /onnxruntime/);
    assert.equal((await measureSuite(suite, SETTINGS, context)).measured, 3);
  });
});

test('results of the previous format, with keys in camelCase, are read', async (t) => {
  const text = JSON.stringify({ format: 'dlbricks-results/2', measurements: [sampleMeasurement(1)] });
  assert.deepEqual(await readingResults(t, text), await readingResults(t, resultsText([sampleMeasurement(1)])));
});

describe('reading results refuses', () => {
  test('a file that is not JSON', (t) =>
    assertRefused(readingResults(t, 'ms: 3'), 'usage', /results\.json/, /--suite/));
  test('no measurement', (t) => assertRefused(readingResults(t, resultsText([])), 'usage', /measurements/));
  test('measurements of two systems', async (t) => {
    const text = resultsText([sampleMeasurement(1), sampleMeasurement(2, { system: sampleSystem({ cores: 7 }) })]);
    await assertRefused(readingResults(t, text), 'usage', /expected one system, found 2/);
  });
  test('two measurements of one benchmark', async (t) => {
    const protocol = { ...PROTOCOL, warmupRuns: PROTOCOL.warmupRuns + 1 };
    const text = resultsText([sampleMeasurement(1), sampleMeasurement(1, { protocol })]);
    await assertRefused(readingResults(t, text), 'usage', /each benchmark once per occasion, found 1/);
  });
  for (const ms of [1e308, 1e-320, 366 * 24 * 3600 * 1000 + 1]) {
    test(`runs of ${ms} ms, which allow no error estimate`, async (t) => {
      const outcome = { kind: 'samples' as const, runMs: [ms, ms], warmupMs: [] };
      const text = resultsText([sampleMeasurement(1, { outcome })]);
      await assertRefused(
        readingResults(t, text),
        'usage',
        /measurements\.0: a time of .* ms, expected 0, or from 1e-9 to 31622400000 ms/,
      );
    });
  }
  test('an invalid measurement', async (t) => {
    const text = resultsText([sampleMeasurement(1, { costMs: -1 })]);
    await assertRefused(readingResults(t, text), 'usage', /measurements\.0\.cost_ms/);
  });
});
