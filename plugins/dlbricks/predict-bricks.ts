import {
  distinctTasks,
  type MeasuringContext,
  type MeasuringPlan,
  type ResultStore,
  type System,
  type Task,
  taskKey,
} from '../../src/plugin-api.js';
import type { Cut } from './cut/cut.js';
import { contextOf } from './bricks/needs.js';
import type { PreparedModel } from './bricks/prepare-model.js';
import { compose } from './estimate/compose.js';
import { groupObservations } from './estimate/observations.js';
import { type Earlier, spreadsFor, spreadsOfSystem } from './estimate/spreads-of-system.js';
import { KernelPredictor, type MeasuredKernel } from './predict/kernel-predictor.js';
import type { MeasuringCost } from './report/evaluation-result.js';
import { type SystemRun, NO_COST, type Remeasuring, sumOfCosts } from './system-run.js';
import { keepKernels, knownKernels } from './measure/known-kernels.js';
import { largestTasks, type Measure } from './measure/largest.js';
import type { Precision } from './measure/next-occasion.js';
import { callTasks, type MeasureSettings, MAX_OCCASIONS, SECOND_OCCASION } from './measure/tasks.js';

interface PlanToPredict {
  readonly request: MeasureSettings &
    Remeasuring & {
      readonly cut: Cut;
      readonly measure?: Measure | undefined;
      readonly precision: Precision;
    };
  readonly system: System;
  readonly models: readonly PreparedModel[];
  readonly run: SystemRun;
  readonly bricks: MeasuringPlan;
}

/** What predictions are made from, and the cost of measuring the bricks for which they do not suffice. */
interface Predicting {
  readonly predictor: KernelPredictor | undefined;
  readonly cost: MeasuringCost;
}

/** The last predictor made from a store. Cells of a matrix and batches learn from the same measurements. */
const lastPredictors = new WeakMap<ResultStore, { readonly from: string; readonly predictor: KernelPredictor }>();

function predictorFrom(measured: readonly MeasuredKernel[], store: ResultStore): KernelPredictor {
  const from = JSON.stringify(measured);
  const last = lastPredictors.get(store);
  if (last?.from === from) return last.predictor;
  const predictor = new KernelPredictor(measured);
  lastPredictors.set(store, { from, predictor });
  return predictor;
}

/**
 * Learns from the measured kernels of the system, and measures the calls and the largest bricks where that is asked
 * for. What the bricks of this evaluation compute is kept, for later evaluations.
 */
export async function predict(
  plan: PlanToPredict,
  context: MeasuringContext,
  earlier: Earlier | undefined,
): Promise<Predicting> {
  const { request, system, models, run, bricks } = plan;
  const { measure = 'all' } = request;
  if (measure === 'all') {
    if (bricks.missing.length > 0 && request.cut === 'kernel') await keepKernels(context.store, models);
    return { predictor: undefined, cost: NO_COST };
  }
  const { measured, stored } = await knownKernels(context.store, models, system, request);
  await keepKernels(context.store, models, stored);
  const predictor = predictorFrom(measured, context.store);
  let cost = NO_COST;
  if (measure === 'none') {
    for (let occasion = SECOND_OCCASION; occasion <= MAX_OCCASIONS; occasion++) {
      const again = bricks.tasks.map((task) => ({ ...task, request: { ...task.request, occasion } }));
      await run.plan(again, request);
    }
    return { predictor, cost };
  }
  const tried = new Set<string>();
  const measureAll = async (tasks: readonly Task[]): Promise<void> => {
    const missing = tasks.filter((task) => !run.has(task) && !tried.has(taskKey(task.request)));
    for (const { request: asked } of missing) tried.add(taskKey(asked));
    cost = sumOfCosts(cost, await run.measureMore({ tasks, missing, disturbed: [] }, request));
  };
  await measureAll(distinctTasks(models.flatMap((model) => callTasks(model, request))));
  for (let before = -1; before < tried.size && !context.signal.aborted;) {
    before = tried.size;
    const observations = groupObservations(run.results.measurements());
    const recipes = models.map(({ recipe, facts }) => ({ recipe, facts, context: contextOf(recipe, system) }));
    const spreads = spreadsOfSystem(recipes, observations, { earlier });
    const estimates = recipes.map((recipe) => compose(recipe, observations, spreadsFor(spreads), predictor));
    const tasks = largestTasks(models, estimates, predictor.commonError, system, request, request.precision);
    await measureAll(tasks);
  }
  return { predictor, cost };
}
