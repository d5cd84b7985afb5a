import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { knownResults, buildWanted } from '../../../../src/measuring/known-results.js';
import type { Task } from '../../../../src/measuring/task.js';
import {
  FIRST_OCCASION,
  firstTasks,
  type MeasureSettings,
  SECOND_OCCASION,
  wantedOfNeed,
  wholeModelTasks,
} from '../../../../plugins/dlbricks/measure/tasks.js';
import type { FailureReason, Measurement } from '../../../../src/measurement/measurement.js';
import { openMemoryStore } from '../../../../src/store/memory/open.js';
import {
  LIMITS,
  PROTOCOL,
  sampleMeasurement,
  sampleSystem,
  signatureOf,
  SYSTEM,
} from '../../../store/sample-measurement.js';
import { preparedChain } from '../support/chain-model.js';
import { FOOTPRINT_BYTES, preparedOf, recipeTogether } from '../support/measured-bricks.js';

const SETTINGS: MeasureSettings = { runOptions: SYSTEM.runOptions, protocol: PROTOCOL, limits: LIMITS };

const two = preparedChain('two', 'Abs', 'Neg');

function labels(tasks: readonly Task[]): readonly string[] {
  return tasks.map(({ label }) => label);
}

function measurementOf({ request }: Task, changes: Partial<Measurement> = {}): Measurement {
  const { benchmark, protocol, occasion, limits, context, runOptions } = request;
  const system = sampleSystem({ runOptions });
  const surroundings = context === undefined ? {} : { context };
  return sampleMeasurement(0, {
    signature: benchmark.signature,
    system,
    protocol,
    occasion,
    limits,
    ...surroundings,
    ...changes,
  });
}

/** The labels of the tasks whose results are known from a store with these measurements. */
async function knownOf(tasks: readonly Task[], ...measurements: readonly Measurement[]): Promise<readonly string[]> {
  const store = await openMemoryStore();
  for (const measurement of measurements) await store.putMeasurement(measurement);
  const wanted = tasks.map(({ request }) => buildWanted(request));
  const results = await knownResults(wanted, SYSTEM, store);
  return labels(tasks.filter(({ request }) => results.get(request) !== undefined));
}

describe('the known results', () => {
  const tasks = [
    ...wholeModelTasks([two], FIRST_OCCASION, SETTINGS),
    ...firstTasks([two], SYSTEM, SETTINGS),
    ...wholeModelTasks([two], SECOND_OCCASION, SETTINGS),
  ];

  test('are those in the store for this system and protocol', async () => {
    assert.deepEqual(await knownOf(tasks, ...tasks.map((task) => measurementOf(task))), labels(tasks));
    assert.deepEqual(await knownOf(tasks), []);
  });

  test('do not take a first measurement for a repetition, or the other way round', async () => {
    const [whole, , , again] = tasks;
    assert.ok(whole !== undefined && again !== undefined);
    assert.deepEqual(await knownOf(tasks, measurementOf(whole)), ['two (whole)']);
    assert.deepEqual(await knownOf(tasks, measurementOf(again)), ['two (whole, again)']);
  });

  test('are not those of another system or protocol', async () => {
    const [task] = tasks;
    assert.ok(task !== undefined);
    const elsewhere = measurementOf(task, { system: sampleSystem({ frameworkVersion: '0.0.1' }) });
    const otherwise = measurementOf(task, { protocol: { ...PROTOCOL, runs: PROTOCOL.runs + 1 } });
    assert.deepEqual(await knownOf(tasks, elsewhere, otherwise), []);
  });

  test('do not include failures that another try may not have', async () => {
    const [task] = tasks;
    assert.ok(task !== undefined);
    const failed = (reason: FailureReason) =>
      measurementOf(task, { outcome: { kind: 'failure', reason, message: 'no' } });
    assert.deepEqual(await knownOf(tasks, failed('unsupported')), ['two (whole)']);
    assert.deepEqual(await knownOf(tasks, failed('crashed')), []);
  });

  describe('of a brick that is measured together with others', () => {
    const bricks = firstTasks([preparedOf(recipeTogether([1]))], SYSTEM, SETTINGS).slice(1);
    const [brick = assert.fail()] = bricks;

    test('are those with the same footprint and a graph that runs as it is', async () => {
      assert.deepEqual(await knownOf(bricks, measurementOf(brick)), ['model: Op0']);
    });

    test('are not those without a context, or with another footprint', async () => {
      const alone = measurementOf(brick, { context: undefined });
      const elsewhere = measurementOf(brick, { context: { footprintBytes: 64 * FOOTPRINT_BYTES } });
      assert.deepEqual(await knownOf(bricks, alone, elsewhere), []);
    });

    test('are not those with a graph that the runtime optimized', async () => {
      assert.deepEqual(await knownOf(bricks, measurementOf(brick, { system: SYSTEM })), []);
    });

    test('include those at the evaluation’s own level if that level optimizes nothing either', async () => {
      const runOptions = { ...SYSTEM.runOptions, optimizationLevel: 'disabled' } as const;
      const plain = { ...SETTINGS, runOptions };
      const same = firstTasks([preparedOf(recipeTogether([1]))], sampleSystem({ runOptions }), plain).slice(1);
      assert.deepEqual(await knownOf(same, measurementOf(brick)), ['model: Op0']);
    });
  });
});

describe('a need and its request', () => {
  const settings = { runOptions: SYSTEM.runOptions, limits: LIMITS };

  test('are looked up by the same key, in a context and without one', () => {
    const need = { signature: signatureOf(1), protocol: PROTOCOL };
    const plain = wantedOfNeed(need, 2, settings);
    assert.deepEqual(plain, { ...need, occasion: 2, ...settings });
    const context = { footprintBytes: 2 ** 20 };
    const optimized = wantedOfNeed({ ...need, context, isOptimized: true }, 1, settings);
    const runOptions = { ...SYSTEM.runOptions, optimizationLevel: 'disabled' };
    assert.deepEqual(optimized, { ...need, occasion: 1, limits: LIMITS, runOptions, context });
  });
});
