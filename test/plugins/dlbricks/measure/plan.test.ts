import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  isConclusive,
  knownResults,
  planRepetitions,
  planTasks,
  repetitionOf,
  type Task,
} from '../../../../plugins/dlbricks/measure/plan.js';
import type { FailureReason, Measurement } from '../../../../src/measurement/measurement.js';
import { protocolKey, type Protocol } from '../../../../src/measurement/protocol.js';
import { openMemoryStore } from '../../../../src/store/memory/open.js';
import { PROTOCOL, sampleMeasurement, sampleSystem, SYSTEM } from '../../../store/sample-measurement.js';
import { preparedChain } from '../support/chain-model.js';

const one = preparedChain('one', 'Relu', 'Neg', 'Relu');
const two = preparedChain('two', 'Abs', 'Neg');

function labels(tasks: readonly Task[]): readonly string[] {
  return tasks.map(({ label }) => label);
}

describe('the plan', () => {
  test('has each whole model right before its bricks, each brick once', () => {
    assert.deepEqual(labels(planTasks([one, two], PROTOCOL, true)), [
      'one (whole)',
      'one: Relu',
      'one: Neg',
      'two (whole)',
      'two: Abs',
    ]);
  });

  test('has each whole model once more for the repetitions', () => {
    assert.deepEqual(labels(planRepetitions([one, two, { ...one }], PROTOCOL)), [
      'one (whole, again)',
      'two (whole, again)',
    ]);
  });

  test('has bricks only where whole models are not asked for', () => {
    assert.deepEqual(labels(planTasks([one, two], PROTOCOL, false)), ['one: Relu', 'one: Neg', 'two: Abs']);
  });

  test('has a model that is asked for twice once', () => {
    assert.deepEqual(labels(planTasks([two, { ...two }], PROTOCOL, true)), ['two (whole)', 'two: Abs', 'two: Neg']);
  });

  test('tells a repetition from the first time by its protocol', () => {
    const tasks = [...planTasks([two], PROTOCOL, true), ...planRepetitions([two], PROTOCOL)];
    const [first, again] = tasks.filter(({ benchmark }) => benchmark.signature === two.whole.signature);
    assert.ok(first !== undefined && again !== undefined);
    assert.notEqual(protocolKey(again.protocol), protocolKey(first.protocol));
    assert.deepEqual(again.protocol, repetitionOf(PROTOCOL));
  });
});

describe('what is known already', () => {
  const tasks = [...planTasks([two], PROTOCOL, true), ...planRepetitions([two], PROTOCOL)];
  const measurementOf = ({ benchmark, protocol }: Task, changes: Partial<Measurement> = {}): Measurement =>
    sampleMeasurement(0, { signature: benchmark.signature, protocol, ...changes });
  const knownOf = async (...measurements: readonly Measurement[]): Promise<readonly string[]> => {
    const store = await openMemoryStore();
    for (const measurement of measurements) await store.putMeasurement(measurement);
    const results = await knownResults(tasks, SYSTEM, store);
    return labels(tasks.filter((task) => results.get(task) !== undefined));
  };

  test('is what the store has for this system and protocol', async () => {
    assert.deepEqual(await knownOf(...tasks.map((task) => measurementOf(task))), labels(tasks));
    assert.deepEqual(await knownOf(), []);
  });

  test('a first measurement is no repetition, and the other way round', async () => {
    const [whole, , , again] = tasks;
    assert.ok(whole !== undefined && again !== undefined);
    assert.deepEqual(await knownOf(measurementOf(whole)), ['two (whole)']);
    assert.deepEqual(await knownOf(measurementOf(again)), ['two (whole, again)']);
  });

  test('is not what another system or protocol gave', async () => {
    const [task] = tasks;
    assert.ok(task !== undefined);
    const elsewhere = measurementOf(task, { system: sampleSystem({ frameworkVersion: '0.0.1' }) });
    const otherwise = measurementOf(task, { protocol: { ...PROTOCOL, runs: PROTOCOL.runs + 1 } });
    assert.deepEqual(await knownOf(elsewhere, otherwise), []);
  });

  test('is not a failure that another try may not have', async () => {
    const [task] = tasks;
    assert.ok(task !== undefined);
    const failed = (reason: FailureReason) =>
      measurementOf(task, { outcome: { kind: 'failure', reason, message: 'no' } });
    assert.deepEqual(await knownOf(failed('unsupported')), ['two (whole)']);
    assert.deepEqual(await knownOf(failed('crashed')), []);
  });
});

describe('a measurement saves another one', () => {
  const failure = (reason: FailureReason): Measurement =>
    sampleMeasurement(0, { outcome: { kind: 'failure', reason, message: 'no' } });
  const longer: Protocol = { ...PROTOCOL, timeLimitMs: PROTOCOL.timeLimitMs * 2 };
  const larger: Protocol = { ...PROTOCOL, memoryLimitBytes: PROTOCOL.memoryLimitBytes * 2 };
  const shorter: Protocol = { ...PROTOCOL, timeLimitMs: PROTOCOL.timeLimitMs / 2 };

  const cases: readonly (readonly [string, Measurement, Protocol, boolean])[] = [
    ['that has samples', sampleMeasurement(0), longer, true],
    ['that the runtime refused', failure('unsupported'), longer, true],
    ['that failed to run', failure('run_failed'), larger, true],
    ['that timed out', failure('timeout'), PROTOCOL, true],
    ['that timed out, within less time', failure('timeout'), shorter, true],
    ['that timed out, but not within more time', failure('timeout'), longer, false],
    ['that timed out, whatever the memory', failure('timeout'), larger, true],
    ['that ran out of memory', failure('out_of_memory'), longer, true],
    ['that ran out of memory, but not with more of it', failure('out_of_memory'), larger, false],
    ['but not one that crashed', failure('crashed'), PROTOCOL, false],
  ];
  for (const [what, measurement, asked, expected] of cases) {
    test(what, () => assert.equal(isConclusive(measurement, asked), expected));
  }
});
