import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bricksOf, type ObservedRun, Slowness } from '../../../plugins/load/stand-in.js';
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

function slownessWith(handovers: readonly ObservedRun[]): Slowness {
  const dense = [{ atMs: 0, pauseMs: 0, ms: 1 }];
  const costs = { handoverMs: 0, returnMs: undefined, betweenMs: 0 };
  return new Slowness([{ blocks: [{ paused: [], handovers, dense }], blockMs: 1000, ...costs }]);
}

test('what a query sees is the nearest in time after such a pause, or after the pause that differs least', () => {
  const { handoverMs } = slownessWith([
    { atMs: 900, pauseMs: 10, ms: 4 },
    { atMs: 100, pauseMs: 1, ms: 1 },
    { atMs: 500, pauseMs: 10, ms: 3 },
    { atMs: 400, pauseMs: 0.1, ms: 2 },
  ]).sampler(1);
  assert.deepEqual(
    [
      [480, 12],
      [480, 0.4],
      [710, 12],
      [480, 3],
      [0, -5],
      [999, 100],
    ].map(([atMs = 0, pauseMs = 0]) => handoverMs(atMs, pauseMs)),
    [3, 2, 4, 1, 1, 4],
  );
  assert.equal(slownessWith([]).sampler(1).handoverMs(1, 1), 0);
});

test('what a query sees is found without a look at every observation', () => {
  let looks = 0;
  const handovers = Array.from({ length: 1000 }, (_, atMs) => ({
    atMs,
    ms: 1,
    get pauseMs() {
      looks++;
      return atMs % 10;
    },
  }));
  const { handoverMs } = slownessWith(handovers).sampler(1);
  for (let atMs = 0; atMs < 1000; atMs++) handoverMs(atMs, 8);
  assert.ok(looks < 10 * 1000, `${looks}`);
});
