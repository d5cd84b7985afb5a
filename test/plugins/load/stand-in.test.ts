import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bricksOf } from '../../../plugins/load/stand-in.js';
import { createFakeAgent } from '../../support/fake-agent.js';
import type { Benchmark } from '../../../src/measurement/benchmark.js';
import { modelFromBenchmark } from '../../../src/measurement/weightless.js';
import { SYSTEM } from '../../store/sample-measurement.js';
import { loadedChain } from '../dlbricks/support/chain-model.js';

/** Operators of the stand-in of a model, without what makes their inputs and reads their outputs. */
async function operatorsOf(operators: readonly string[], share: number): Promise<readonly string[]> {
  const optimizedOf = (benchmark: Benchmark) => ({ benchmark, values: new Map(), costMs: 1 });
  const agent = createFakeAgent({ latencyOf: () => 1, optimizedOf });
  const { signal } = new AbortController();
  const place = { agent, signal, runOptions: SYSTEM.runOptions, onWaiting: () => {} };
  const { benchmark, runOptions } = await bricksOf(loadedChain('model', ...operators), share, place);
  // The optimizer would compute bricks whose inputs are made of weights, once and for all.
  assert.equal(runOptions.optimizationLevel, 'disabled');
  const { nodes } = modelFromBenchmark(benchmark, 'stand-in').graph;
  // The list of nodes is in the reverse order of execution.
  return nodes.flatMap(({ name, opType }) => (/^b\d/.test(name) ? [opType] : []));
}

test('a stand-in has the bricks of a model, each as often as the model has it', async () => {
  const operators = ['Relu', 'Neg', 'Relu', 'Abs', 'Relu'];
  assert.deepEqual((await operatorsOf(operators, 1)).toSorted(), operators.toSorted());
});

test('a stand-in of a long model has its first bricks, and at least one', async () => {
  const operators = ['Relu', 'Relu', 'Relu', 'Relu', 'Relu', 'Relu', 'Relu', 'Relu'];
  assert.equal((await operatorsOf(operators, 0.55)).length, 4);
  assert.equal((await operatorsOf(operators, 1e-9)).length, 1);
});
