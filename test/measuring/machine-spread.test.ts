import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MachineSpread } from '../../src/agent/benchmark-agent.js';
import { createFakeAgent } from '../../src/agent/fake-agent.js';
import { machineSpreadOf } from '../../src/measuring/machine-spread.js';
import { PlatformError } from '../../src/base/errors.js';
import type { ResultStore } from '../../src/store/result-store.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { sampleSystem, SYSTEM } from '../store/sample-measurement.js';

const one = createFakeAgent({ latencyOf: () => 1 });
const several = (spread: MachineSpread | undefined) => ({ ...one, machineSpread: () => spread });

const first = { machines: 3, benchmarks: 10, relative: 0.05 };

describe('how far the machines of a system differ', () => {
  it('is what the agent found, also for evaluations of one machine, since they use what others measured', async () => {
    const store = await openMemoryStore();
    assert.equal(await machineSpreadOf(SYSTEM, { agent: one, store }), undefined);
    assert.deepEqual(await machineSpreadOf(SYSTEM, { agent: several(first), store }), first);
    assert.deepEqual(await machineSpreadOf(SYSTEM, { agent: one, store }), first);
    assert.deepEqual(await machineSpreadOf(SYSTEM, { agent: several(undefined), store }), first);
  });

  it('is what was found last, unless by fewer benchmarks', async () => {
    const store = await openMemoryStore();
    const again = { ...first, relative: 0.02 };
    for (const agent of [several(first), several(again)]) await machineSpreadOf(SYSTEM, { agent, store });
    assert.deepEqual(await machineSpreadOf(SYSTEM, { agent: one, store }), again);
    const rough = { ...first, benchmarks: 1, relative: 0.5 };
    assert.deepEqual(await machineSpreadOf(SYSTEM, { agent: several(rough), store }), again);
    assert.deepEqual(await machineSpreadOf(SYSTEM, { agent: one, store }), again);
  });

  it('is of no other system', async () => {
    const store = await openMemoryStore();
    await machineSpreadOf(SYSTEM, { agent: several(first), store });
    assert.equal(await machineSpreadOf(sampleSystem({ cores: 64 }), { agent: one, store }), undefined);
  });

  it('is what was found now, or not known, where the store does not answer', async () => {
    const store = await openMemoryStore();
    const gone = new PlatformError('unavailable', 'the store does not answer');
    const away = {
      ...store,
      collection: <T>() => ({ get: () => Promise.reject<T>(gone), put: () => Promise.resolve() }),
    };
    const asStore = away as unknown as ResultStore;
    assert.equal(await machineSpreadOf(SYSTEM, { agent: one, store: asStore }), undefined);
    assert.deepEqual(await machineSpreadOf(SYSTEM, { agent: several(first), store: asStore }), first);
  });
});
