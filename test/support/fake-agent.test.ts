import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createFakeAgent } from './fake-agent.js';
import { describeBenchmarkAgent, inferredOfFlatten } from '../agent/support/contract.js';
import { matMul, protocol, relu, runOptions, unknownOperator } from '../agent/support/tiny-benchmarks.js';
import { measureOne } from '../agent/support/measure-one.js';

describeBenchmarkAgent('the fake agent', () => {
  return Promise.resolve(
    createFakeAgent({
      latencyOf: ({ signature }) => {
        return signature === unknownOperator.signature ? { reason: 'unsupported', message: 'no such operator' } : 2;
      },
      inferredValuesOf: () => inferredOfFlatten,
    }),
  );
});

describe('fake agent', () => {
  test('it returns the latencies that it was created with', async () => {
    const agent = createFakeAgent({ latencyOf: ({ model }) => model.length });
    const { outcome } = await measureOne(agent, relu, runOptions, { ...protocol, warmupRuns: 1, runs: 2 });
    const latency = relu.model.length;

    assert.deepEqual(outcome, { kind: 'samples', warmupMs: [latency], runMs: [latency, latency] });
  });

  test('it records the signatures that it measured', async () => {
    const agent = createFakeAgent({ latencyOf: () => 1 });
    for (const benchmark of [relu, matMul, relu]) await measureOne(agent, benchmark, runOptions, protocol);

    assert.deepEqual(agent.measured, [relu.signature, matMul.signature, relu.signature]);
  });
});
