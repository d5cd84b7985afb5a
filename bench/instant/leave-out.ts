import { mean } from '../../src/base/mean.js';
import { computeContext, modelNeeds } from '../../plugins/dlbricks/bricks/needs.js';
import { prepareModel, type PreparedModel } from '../../plugins/dlbricks/bricks/prepare-model.js';
import { brickKey, groupObservations } from '../../plugins/dlbricks/estimate/brick-latency.js';
import { compose } from '../../plugins/dlbricks/estimate/compose.js';
import { spreadsFor, spreadsOfSystem } from '../../plugins/dlbricks/estimate/spreads-of-system.js';
import { earlierRuns } from '../../plugins/dlbricks/measure/earlier-runs.js';
import { describeKernels, measuredKernels } from '../../plugins/dlbricks/measure/known-kernels.js';
import { OCCASIONS, findKnown } from '../../plugins/dlbricks/measure/tasks.js';
import { KernelPredictor } from '../../plugins/dlbricks/predict/kernel-predictor.js';
import { settingsSchema } from '../../plugins/dlbricks/settings.js';
import type { BenchmarkAgent } from '../../src/agent/benchmark-agent.js';
import { DEFAULT_LIMITS, DEFAULT_PROTOCOL } from '../../src/manifest/evaluation.js';
import { type ResultStore, type RunOptions, type System } from '../../src/plugin-api.js';
import { loadModel } from '../../src/registry/load-model.js';

export interface LeftOut {
  readonly name: string;
  /** Of the estimate, relative to the sum of its measured bricks, and to the measured whole model. */
  readonly ofBricks: number;
  readonly ofWhole: number | undefined;
  readonly halfWidth: number | undefined;
  /** Whether the interval has the whole model's latency. */
  readonly holds: boolean | undefined;
  /** Part of its time with operators that no other group has, which both sums leave out. */
  readonly unknown: number;
}

/** Models as their bricks, cut as by default. */
export async function prepareAll(
  references: readonly string[],
  agent: BenchmarkAgent,
  runOptions: RunOptions,
): Promise<readonly PreparedModel[]> {
  const settings = { ...settingsSchema.parse({}), runOptions };
  const { signal } = new AbortController();
  const prepared: PreparedModel[] = [];
  for (const reference of references) {
    const loaded = await loadModel(reference, { batch: 1, signal });
    prepared.push(await prepareModel(loaded, settings, agent, signal));
  }
  return prepared;
}

/**
 * Predicts each model from measured bricks of the models of other groups.
 *
 * @returns one row for each model whose own bricks are in the store
 */
export async function leaveOut(
  prepared: readonly PreparedModel[],
  { store, system }: { readonly store: ResultStore; readonly system: System },
  groupOf: (name: string) => string,
): Promise<readonly LeftOut[]> {
  const settings = { runOptions: system.runOptions, protocol: DEFAULT_PROTOCOL, limits: DEFAULT_LIMITS };
  const earlier = await earlierRuns(store, system, DEFAULT_PROTOCOL);
  const found: LeftOut[] = [];
  for (const { recipe, facts, whole } of prepared) {
    const { name } = recipe;
    const others = prepared.filter((other) => groupOf(other.recipe.name) !== groupOf(name));
    const measured = await measuredKernels(describeKernels(others), store, system, settings);
    const context = computeContext(recipe, system);
    const needs = modelNeeds(recipe, system, DEFAULT_PROTOCOL);
    const all = groupObservations((await findKnown(needs, OCCASIONS, system, settings, store)).measurements());
    const own = new Set(recipe.bricks.map((brick) => brickKey(brick, context)));
    const calls = new Map([...all].filter(([key]) => !own.has(key)));
    const spreads = spreadsFor(spreadsOfSystem([], new Map(), { earlier }), whole.signature);
    const byBricks = compose({ recipe, context }, all);
    // A model that the store does not have says nothing.
    if (byBricks.missing.length > 0) continue;
    const predicted = compose({ recipe, context, facts }, calls, spreads, new KernelPredictor(measured));
    const missing = new Set(predicted.missing.map(({ signature }) => signature));
    const unknownMs = byBricks.parts.reduce(
      (sum, { signature, count, ms = 0 }) => sum + (missing.has(signature) ? count * ms : 0),
      0,
    );
    const bricksMs = byBricks.sequential?.ms ?? NaN;
    const interval = predicted.sequential ?? { ms: 0, lowMs: undefined, highMs: undefined };
    const wholes = earlier.wholes.get(whole.signature) ?? [];
    const wholeMs = wholes.length === 0 ? undefined : mean(wholes);
    const { lowMs, highMs } = interval;
    found.push({
      name,
      ofBricks: interval.ms / (bricksMs - unknownMs) - 1,
      ofWhole: wholeMs === undefined ? undefined : interval.ms / wholeMs - 1,
      halfWidth: highMs === undefined ? undefined : highMs / interval.ms - 1,
      holds:
        wholeMs === undefined || lowMs === undefined || highMs === undefined
          ? undefined
          : lowMs <= wholeMs && wholeMs <= highMs,
      unknown: unknownMs / bricksMs,
    });
  }
  return found;
}
