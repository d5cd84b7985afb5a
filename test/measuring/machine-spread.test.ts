import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MachineSpread } from '../../src/agent/benchmark-agent.js';
import { createFakeAgent } from '../support/fake-agent.js';
import { readMachineSpread } from '../../src/measuring/machine-spread.js';
import { PlatformError } from '../../src/base/errors.js';
import type { ResultStore } from '../../src/store/result-store.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { sampleSystem, SYSTEM } from '../store/sample-measurement.js';

const one = createFakeAgent({ latencyOf: () => 1 });
const several = (spread: MachineSpread | undefined) => ({ ...one, machineSpread: () => spread });

const first = { machines: 3, benchmarks: 10, relative: 0.05 };

describe('the spread between the machines of a system', () => {
  it('is the one that the agent found, also for evaluations on one machine, since they use measurements of others', async () => {
    const store = await openMemoryStore();
    assert.equal(await readMachineSpread(SYSTEM, { agent: one, store }), undefined);
    assert.deepEqual(await readMachineSpread(SYSTEM, { agent: several(first), store }), first);
    assert.deepEqual(await readMachineSpread(SYSTEM, { agent: one, store }), first);
    assert.deepEqual(await readMachineSpread(SYSTEM, { agent: several(undefined), store }), first);
  });

  it('is the latest one, unless it comes from fewer benchmarks', async () => {
    const store = await openMemoryStore();
    const again = { ...first, relative: 0.02 };
    for (const agent of [several(first), several(again)]) await readMachineSpread(SYSTEM, { agent, store });
    assert.deepEqual(await readMachineSpread(SYSTEM, { agent: one, store }), again);
    const rough = { ...first, benchmarks: 1, relative: 0.5 };
    assert.deepEqual(await readMachineSpread(SYSTEM, { agent: several(rough), store }), again);
    assert.deepEqual(await readMachineSpread(SYSTEM, { agent: one, store }), again);
  });

  it('is stored as it is, also of two machines and one benchmark', async () => {
    const store = await openMemoryStore();
    const least = { machines: 2, benchmarks: 1, relative: 0 };
    await readMachineSpread(SYSTEM, { agent: several(least), store });
    assert.deepEqual(await readMachineSpread(SYSTEM, { agent: one, store }), least);
  });

  for (const wrong of [{ machines: 1 }, { benchmarks: 0 }, { relative: -0.1 }]) {
    it(`is never stored with ${JSON.stringify(wrong)}`, async () => {
      const store = await openMemoryStore();
      await assert.rejects(readMachineSpread(SYSTEM, { agent: several({ ...first, ...wrong }), store }));
      assert.equal(await readMachineSpread(SYSTEM, { agent: one, store }), undefined);
    });
  }

  it('does not apply to another system', async () => {
    const store = await openMemoryStore();
    await readMachineSpread(SYSTEM, { agent: several(first), store });
    assert.equal(await readMachineSpread(sampleSystem({ cores: 64 }), { agent: one, store }), undefined);
  });

  it('is the one found now, or unknown, if the store does not answer', async () => {
    const store = await openMemoryStore();
    const gone = new PlatformError('unavailable', 'the store does not answer');
    const away = {
      ...store,
      collection: <T>() => ({ get: () => Promise.reject<T>(gone), put: () => Promise.resolve() }),
    };
    const asStore = away as unknown as ResultStore;
    assert.equal(await readMachineSpread(SYSTEM, { agent: one, store: asStore }), undefined);
    assert.deepEqual(await readMachineSpread(SYSTEM, { agent: several(first), store: asStore }), first);
  });
});
