import { distinctTasks, type MeasuringContext, type Task, taskKey } from '../../src/plugin-api.js';
import { computeContext } from './bricks/needs.js';
import { compose } from './estimate/compose.js';
import { groupObservations } from './estimate/brick-latency.js';
import { type Earlier, spreadsFor, spreadsOfSystem } from './estimate/spreads-of-system.js';
import { KernelPredictor } from './predict/kernel-predictor.js';
import { type SystemRun, NO_COST, type Plan, sumOfCosts } from './system-run.js';
import { describeKernels, keepKernels, knownKernels } from './measure/known-kernels.js';
import { largestTasks } from './measure/largest.js';
import { callTasks, MAX_OCCASIONS, SECOND_OCCASION } from './measure/tasks.js';

interface Learned {
  /** How many measurements the run had taken. */
  readonly measured: number;
  /** The kernels that the store described, or that a model of the run had, and that were looked up. */
  readonly kernels: ReadonlySet<string>;
  readonly predictor: KernelPredictor;
}

/** Cells of a matrix and batches learn from the same measurements as long as nothing is measured. */
const learnedBy = new WeakMap<SystemRun, Learned>();

/**
 * Learns from the measured kernels of the system. What the bricks of this evaluation compute is kept for later
 * evaluations, unless they neither are measured nor will be.
 */
async function learn({ request, models, run, bricks }: Plan, { store }: MeasuringContext): Promise<KernelPredictor> {
  const own = describeKernels(models);
  const measured = new Set(
    bricks.tasks.filter((task) => run.has(task)).map((task) => task.request.benchmark.signature),
  );
  const known = new Map([...own].filter(([signature]) => measured.has(signature)));
  const last = learnedBy.get(run);
  const isLearned = last?.measured === run.measured && [...known.keys()].every((one) => last.kernels.has(one));
  if (isLearned && request.measure === 'none') return last.predictor;
  const found = await knownKernels(store, known, run.system, request);
  await keepKernels(store, request.measure === 'none' ? known : own, found.stored);
  const predictor = new KernelPredictor(found.measured);
  learnedBy.set(run, {
    measured: run.measured,
    kernels: new Set([...known.keys(), ...found.stored.keys()]),
    predictor,
  });
  return predictor;
}

/** Learns from the measured kernels, and measures the calls and the largest bricks where that is asked for. */
export async function predictBricks(plan: Plan, context: MeasuringContext, earlier: Earlier | undefined) {
  const { request, models, run, bricks } = plan;
  const { system } = run;
  const { measure = 'all' } = request;
  if (measure === 'all') {
    if (bricks.missing.length > 0 && request.cut === 'kernel') {
      await keepKernels(context.store, describeKernels(models));
    }
    return { predictor: undefined, cost: NO_COST };
  }
  const predictor = await learn(plan, context);
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
    const recipes = models.map(({ recipe, facts }) => ({ recipe, facts, context: computeContext(recipe, system) }));
    const spreads = spreadsOfSystem(recipes, observations, { earlier });
    const estimates = recipes.map((recipe) => compose(recipe, observations, spreadsFor(spreads), predictor));
    const tasks = largestTasks(models, estimates, predictor.commonError, system, request, request.precision);
    await measureAll(tasks);
  }
  return { predictor, cost };
}
