import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cutBrick } from '../../../plugins/dlbricks/bricks/brick.js';
import { lastUses } from '../../../plugins/dlbricks/cut/last-uses.js';
import { cutAtFewestValues } from '../../../plugins/dlbricks/cut/kernel-cut.js';
import { modelOf, weightlessBenchmark } from '../../../src/measurement/weightless.js';
import { layerGraph } from '../../../src/onnx/layer-graph.js';
import { parseModel } from '../../../src/onnx/read-model.js';
import { CONTROL_FLOW } from '../../onnx/control-flow.js';
import { measureAll, setupOf } from '../support/measure-one.js';
import { agentForSuite } from '../support/running-agent.js';

const ALL = { threads: 1, executionProvider: 'cpu', optimizationLevel: 'all' } as const;
const AS_IT_IS = { ...ALL, optimizationLevel: 'disabled' } as const;
const SETUP = {
  warmupRuns: 1,
  runs: 2,
  minRuns: 2,
  timeBudgetMs: 1000,
  occasion: 1,
  timeLimitMs: 60_000,
  memoryLimitBytes: 2 ** 31,
} as const;

describe('a model with constants in its subgraphs, at the kernel cut', { timeout: 120_000 }, () => {
  const agent = agentForSuite();

  for (const [operator, bytes] of Object.entries(CONTROL_FLOW)) {
    test(`is optimized, cut and measured: ${operator}`, async () => {
      const whole = weightlessBenchmark(parseModel(bytes, operator));
      const { benchmark, values } = await agent().client.optimize(whole, ALL);
      const graph = layerGraph(modelOf(benchmark, 'optimized'), values);
      const uses = lastUses(graph);
      const bricks = cutAtFewestValues(graph, 1).map((sequence) => cutBrick(graph, uses, sequence));
      assert.ok(bricks.some(({ operators }) => operators.includes(operator)));

      const requests = bricks.map((brick) => {
        return { benchmark: brick, runOptions: AS_IT_IS, context: { footprintBytes: 2 ** 20 }, ...setupOf(SETUP) };
      });
      const measured = await measureAll(agent().client, requests);
      assert.deepEqual(
        measured.map(({ measurement: { outcome } }) => (outcome.kind === 'samples' ? 'samples' : outcome.message)),
        bricks.map(() => 'samples'),
      );
    });
  }
});
