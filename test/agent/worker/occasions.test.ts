import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { measuringProcessesOf, needsLinux } from '../support/processes.js';
import { agentForSuite } from '../support/running-agent.js';
import { matMul, protocol, relu, runOptions } from '../support/tiny-benchmarks.js';
import { measureOne } from '../support/measure-one.js';
import { identifySystem } from '../../../src/measurement/system.js';

const timeout = 300_000;

describe('a worker process', { skip: needsLinux, timeout }, () => {
  const agent = agentForSuite();

  /** Measures, and returns the id of the process that measured. */
  async function processOf(benchmark: typeof relu, occasion: number): Promise<number> {
    const { outcome } = await measureOne(agent().client, benchmark, runOptions, { ...protocol, occasion });
    assert.equal(outcome.kind, 'samples');
    const [pid, ...others] = measuringProcessesOf(process.pid);
    assert.ok(pid !== undefined && others.length === 0);
    return pid;
  }

  test('measures on one occasion only; another occasion gets a process of its own', { timeout }, async () => {
    const first = await processOf(relu, 1);
    assert.equal(await processOf(matMul, 1), first);
    const second = await processOf(relu, 2);
    assert.notEqual(second, first);
    assert.equal(await processOf(matMul, 2), second);
    assert.ok(![first, second].includes(await processOf(relu, 1)));
  });

  test(
    'is one of several that optimize graphs at once, and the only one when something is measured',
    { timeout },
    async () => {
      const { client } = agent();
      await Promise.all(Array.from({ length: 4 }, () => client.optimize(matMul, runOptions)));
      const { cores } = identifySystem(client.description, runOptions);
      assert.equal(measuringProcessesOf(process.pid).length, Math.min(cores, 4));
      await processOf(relu, 5);
    },
  );

  test('that has measured still optimizes and infers', { timeout }, async () => {
    const measuring = await processOf(relu, 4);
    await agent().client.optimize(relu, runOptions);
    await agent().client.inferTypes(matMul);
    assert.deepEqual(measuringProcessesOf(process.pid), [measuring]);
  });
});
