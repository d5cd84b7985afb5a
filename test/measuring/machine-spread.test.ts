import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFakeAgent } from '../../src/agent/fake-agent.js';
import { machineSpreadOf } from '../../src/measuring/machine-spread.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { sampleSystem, SYSTEM } from '../store/sample-measurement.js';

const one = createFakeAgent({ latencyOf: () => 1 });
const several = (relative: number) => ({ ...one, machineSpread: () => ({ machines: 3, relative }) });

describe('how far the machines of a system differ', () => {
  it('is what the agent found last, also for evaluations of one machine, since they use what others measured', async () => {
    const store = await openMemoryStore();
    assert.equal(await machineSpreadOf(SYSTEM, { agent: one, store }), undefined);
    assert.deepEqual(await machineSpreadOf(SYSTEM, { agent: several(0.05), store }), { machines: 3, relative: 0.05 });
    assert.deepEqual(await machineSpreadOf(SYSTEM, { agent: several(0.02), store }), { machines: 3, relative: 0.02 });
    assert.deepEqual(await machineSpreadOf(SYSTEM, { agent: one, store }), { machines: 3, relative: 0.02 });
    const nothingMeasured = { ...one, machineSpread: () => undefined };
    assert.equal((await machineSpreadOf(SYSTEM, { agent: nothingMeasured, store }))?.relative, 0.02);
  });

  it('is of no other system', async () => {
    const store = await openMemoryStore();
    await machineSpreadOf(SYSTEM, { agent: several(0.05), store });
    assert.equal(await machineSpreadOf(sampleSystem({ cores: 64 }), { agent: one, store }), undefined);
  });
});
