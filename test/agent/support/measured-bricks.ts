import { type Brick, cutBrick } from '../../../plugins/dlbricks/bricks/brick.js';
import { type Cut, cutSequences } from '../../../plugins/dlbricks/cut/cut.js';
import { lastUses } from '../../../plugins/dlbricks/cut/last-uses.js';
import type { BenchmarkAgent } from '../../../src/agent/benchmark-agent.js';
import { modelFromBenchmark, weightlessBenchmark } from '../../../src/measurement/weightless.js';
import { buildRunOptions } from '../../../src/measurement/system.js';
import { type InferredValue, layerGraph } from '../../../src/onnx/layers/layer-graph.js';
import type { Model } from '../../../src/onnx/model/model.js';
import { measureAll, type Setup, setupOf } from './measure-one.js';

const ALL = buildRunOptions(1);
const AS_IT_IS = { ...ALL, optimizationLevel: 'disabled' } as const;
/** Two runs are enough to see whether a benchmark runs. */
export const TWO_RUNS: Setup = {
  warmupRuns: 1,
  runs: 2,
  minRuns: 2,
  timeBudgetMs: 1000,
  occasion: 1,
  timeLimitMs: 60_000,
  memoryLimitBytes: 2 ** 31,
};

export interface MeasuredBricks {
  readonly bricks: readonly Brick[];
  readonly values: ReadonlyMap<string, InferredValue>;
  /** 'samples' or the failure: of the whole model and then of each brick. Equal bricks are measured once. */
  readonly outcomes: readonly string[];
}

/** Runs a model and each of its bricks with the real runtime. */
export async function measuredBricks(client: BenchmarkAgent, model: Model, cut: Cut): Promise<MeasuredBricks> {
  const whole = weightlessBenchmark(model);
  const optimized = cut === 'kernel' ? await client.optimize(whole, ALL) : undefined;
  const values = optimized?.values ?? (await client.inferTypes(whole));
  const graph = layerGraph(optimized ? modelFromBenchmark(optimized.benchmark, 'optimized') : model, values);
  const bricks = cutSequences(graph, cut, 1).map((sequence) => cutBrick(graph, lastUses(graph), sequence));
  const context = { footprintBytes: 2 ** 20 };
  const unique = [...new Map(bricks.map((brick) => [brick.signature, brick])).values()];
  const measured = await measureAll(client, [
    { benchmark: whole, runOptions: ALL, ...setupOf(TWO_RUNS) },
    ...unique.map((brick) => ({ benchmark: brick, runOptions: AS_IT_IS, context, ...setupOf(TWO_RUNS) })),
  ]);
  const [ofWhole = '', ...ofUnique] = measured.map(({ measurement: { outcome } }) => {
    return outcome.kind === 'samples' ? 'samples' : outcome.message;
  });
  const bySignature = new Map(unique.map(({ signature }, i) => [signature, ofUnique[i] ?? '']));
  return { bricks, values, outcomes: [ofWhole, ...bricks.map(({ signature }) => bySignature.get(signature) ?? '')] };
}
