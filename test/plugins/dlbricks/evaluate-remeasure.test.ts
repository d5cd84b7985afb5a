import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { collect } from '../../../src/base/collect.js';
import type { EvaluationEvent } from '../../../src/evaluation/event.js';
import type { Remeasure } from '../../../src/measurement/remeasure.js';
import { createFakeAgent, type FakeAgentOptions } from '../../support/fake-agent.js';
import type { Conditions } from '../../../src/measurement/conditions.js';
import type { Measurement } from '../../../src/measurement/measurement.js';
import { openMemoryStore } from '../../../src/store/memory/open.js';
import type { ResultStore } from '../../../src/store/result-store.js';
import { conditionsBeside } from '../../store/measured-beside.js';
import { loadedChain } from './support/chain-model.js';
import { evaluate, requestFor } from './support/evaluate.js';

/** Relu, Neg and Abs: three bricks. */
const MODEL = loadedChain('one', 'Relu', 'Neg', 'Relu', 'Abs');

/** In a second on two cores, others take half of one core: more than the tenth that counts as a disturbance. */
const BUSY = conditionsBeside(500);
const BUSIER = conditionsBeside(900);
const QUIET = conditionsBeside(0);

interface Run {
  readonly remeasure?: Remeasure;
  /** Of every measurement. These tests are not about retaking disturbed measurements within one run. */
  readonly conditions?: Conditions;
  readonly latencyOf?: FakeAgentOptions['latencyOf'];
  readonly measuredAt?: string;
  readonly signal?: AbortSignal;
  readonly onMeasured?: () => void;
}

/** Evaluates the model with this store. @returns the number of measurements taken, and the notes */
async function run(store: ResultStore, { remeasure, conditions = QUIET, ...settings }: Run = {}) {
  const { latencyOf = () => 1, measuredAt, signal = new AbortController().signal, onMeasured } = settings;
  const agent = createFakeAgent({
    latencyOf,
    conditionsOf: () => {
      onMeasured?.();
      return conditions;
    },
    ...(measuredAt === undefined ? {} : { measuredAt }),
  });
  const said: string[] = [];
  const onEvent = (event: EvaluationEvent): void => {
    if (event.kind === 'note') said.push(event.message);
  };
  const result = await evaluate(requestFor([MODEL], { remeasure }), { agent, store, signal, onEvent });
  return { taken: agent.measured.length, said, result };
}

async function stored(store: ResultStore): Promise<readonly Measurement[]> {
  return collect(store.listMeasurements());
}

/** A store with the model's three bricks. */
async function storeMeasured(settings: Run = {}): Promise<ResultStore> {
  const store = await openMemoryStore();
  await run(store, settings);
  return store;
}

/** A store whose three bricks were measured while the machine was busy. */
async function storeOfBusyMachine(): Promise<ResultStore> {
  const store = await storeMeasured();
  for (const measurement of await stored(store)) await store.putMeasurement({ ...measurement, conditions: BUSY });
  return store;
}

describe('a measurement that others disturbed', () => {
  test('is taken again when the same command runs on a quiet machine, and never again after that', async () => {
    const store = await storeOfBusyMachine();
    assert.equal((await run(store)).taken, 3);
    assert.deepEqual(
      (await stored(store)).map(({ conditions }) => conditions),
      [QUIET, QUIET, QUIET],
    );
    assert.equal((await run(store)).taken, 0);
  });

  test('stays if the machine is still busy, which a single measurement finds out', async () => {
    const store = await storeOfBusyMachine();
    const { taken, said, result } = await run(store, { conditions: BUSIER });
    assert.equal(taken, 1);
    assert.deepEqual(said, [
      'taking 3 of the stored measurements again, because other processes disturbed them',
      'the machine is still busy: keeping 3 of them as they are',
    ]);
    assert.deepEqual(
      (await stored(store)).map(({ conditions }) => conditions),
      [BUSY, BUSY, BUSY],
    );
    assert.equal(result.models[0]?.estimate.coverage, 1);
  });

  test('is left alone on request', async () => {
    assert.equal((await run(await storeOfBusyMachine(), { remeasure: { kind: 'none' } })).taken, 0);
  });

  test('is taken again on request, also on a busy machine', async () => {
    const { taken } = await run(await storeOfBusyMachine(), { remeasure: { kind: 'disturbed' }, conditions: BUSIER });
    assert.ok(taken >= 3, `${taken}`);
  });
});

describe('a stored measurement', () => {
  test('is taken again on request', async () => {
    const store = await storeMeasured();
    const { taken } = await run(store, { remeasure: { kind: 'all' }, latencyOf: () => 2 });
    assert.equal(taken, 3);
    const runs = (await stored(store)).map(({ outcome }) => outcome.kind === 'samples' && outcome.runMs[0]);
    assert.deepEqual(runs, [2, 2, 2]);
  });

  test('is taken again on request if it failed', async () => {
    const store = await openMemoryStore();
    let benchmarks = 0;
    const latencyOf = () => (benchmarks++ === 0 ? ({ reason: 'unsupported', message: 'no kernel' } as const) : 1);
    await run(store, { latencyOf });
    assert.equal((await run(store)).taken, 0);
    assert.equal((await run(store, { remeasure: { kind: 'failed' } })).taken, 1);
    assert.ok((await stored(store)).every(({ outcome }) => outcome.kind === 'samples'));
  });

  test('is taken again if it is older than requested', async () => {
    const store = await storeMeasured({ measuredAt: '2026-01-01T00:00:00Z' });
    const olderThan = (time: string): Remeasure => ({ kind: 'older-than', timeMs: Date.parse(time) });
    assert.equal((await run(store, { remeasure: olderThan('2026-01-01T00:00:00Z') })).taken, 0);
    assert.equal((await run(store, { remeasure: olderThan('2026-01-01T00:00:01Z') })).taken, 3);
  });

  test('is not replaced by a failure', async () => {
    const store = await storeMeasured();
    const before = await stored(store);
    const crashing = () => ({ reason: 'crashed', message: 'gone' }) as const;
    const { said } = await run(store, { remeasure: { kind: 'all' }, latencyOf: crashing });
    assert.deepEqual(await stored(store), before);
    assert.equal(said.filter((line) => line.endsWith('crashed: gone; the earlier measurement stays')).length, 3);
  });

  test('stays if taking it again is interrupted', async () => {
    const store = await storeMeasured();
    const interrupt = new AbortController();
    const onMeasured = () => interrupt.abort();
    const { result } = await run(store, { remeasure: { kind: 'all' }, signal: interrupt.signal, onMeasured });
    assert.equal(result.interrupted, true);
    assert.equal((await stored(store)).length, 3);
    assert.equal(result.models[0]?.estimate.coverage, 1);
  });
});
