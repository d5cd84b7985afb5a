import { isDeepStrictEqual } from 'node:util';
import {
  counted,
  DEFAULT_REMEASURE,
  distinctTasks,
  type EvaluationEvent,
  identifySystem,
  KnownResults,
  type LoadedModel,
  machineSpreadOf,
  Measuring,
  type MeasuringContext,
  optimizingRun,
  type Phase,
  phaseOf,
  PlatformError,
  protocolKey,
  type Remeasure,
  runOptionsOf,
  RunProgress,
  type System,
  type Task,
  taskKey,
  type UnusableModel,
} from '../../src/plugin-api.js';
import { prepareAll } from './bricks/prepare-all.js';
import { type CutSettings, granularityOf } from './bricks/decompose.js';
import {
  prepareOrRefuse,
  type PreparedModel,
  problemWithInputs,
  refusedIfTooLarge,
  refusedModel,
} from './bricks/prepare-model.js';
import { uniqueBricks } from './bricks/unique-bricks.js';
import { bytesNote } from './bytes-note.js';
import { contextOf } from './bricks/needs.js';
import { compose } from './estimate/compose.js';
import { observationsOf } from './estimate/observations.js';
import { type ComposableModel, composeAll, wholesOf } from './compose-all.js';
import { checkModels } from './measure/check-models.js';
import {
  type Earlier,
  type KnownOfSystem,
  spreadsFor,
  spreadsOfSystem,
  type Wholes,
} from './estimate/spreads-of-system.js';
import { earlierRuns } from './measure/earlier-runs.js';
import { keepKernels, knownKernels } from './measure/known-kernels.js';
import { largestTasks, type Measure } from './measure/largest.js';
import { type Precision, tasksOfNextOccasion } from './measure/next-occasion.js';
import { keepPlatformDocuments } from './measure/platform-documents.js';
import {
  callTasks,
  firstTasks,
  FIRST_OCCASION,
  type MeasureSettings,
  MOST_OCCASIONS,
  SECOND_OCCASION,
  wholeModelTasks,
} from './measure/tasks.js';
import { KernelPredictor } from './predict/kernel-predictor.js';
import { partsInWords } from './report/configuration.js';
import type { EstimateResult, PhaseCost } from './report/evaluation-result.js';

/** The models to estimate, and the settings. */
export interface EstimateRequest extends CutSettings, MeasureSettings {
  readonly models: readonly LoadedModel[];
  /** Further models that could not be read: they get a row with the reason. */
  readonly unusable?: readonly UnusableModel[] | undefined;
  /** Wall time that reading the models took, and what came before; ms. */
  readonly readingMs: number;
  /** Whether to measure each whole model as well: after each brick's first measurement, and again at the end. */
  readonly measureEndToEnd: boolean;
  /** Whether the bricks are compared with the kernels of one run of each whole graph. */
  readonly check?: boolean | undefined;
  /** The bricks to measure that the store lacks; default: all. The others are predicted; kernel cut only. */
  readonly measure?: Measure | undefined;
  /** Precision that bricks at the kernel cut need. */
  readonly precision: Precision;
  /** Address of a trace on a tracing server; by default as the environment says. */
  readonly traceUrlTemplate?: string | undefined;
  /** The stored measurements to take again; by default disturbed ones, while the machine is quiet. */
  readonly remeasure?: Remeasure | undefined;
}

/** One evaluation: its known measurements, its new ones, and their cost. */
class Evaluating {
  readonly #results = new KnownResults();
  readonly #measuring: Measuring;
  /** Keys of the tasks that are planned already. */
  readonly #planned = new Set<string>();
  #measured = 0;

  constructor(
    private readonly context: MeasuringContext,
    private readonly progress: RunProgress,
    private readonly system: System,
  ) {
    this.#measuring = new Measuring(context, system, this.#results, progress);
  }

  get results(): KnownResults {
    return this.#results;
  }

  get measured(): number {
    return this.#measured;
  }

  /** See {@link Measuring.delayMs}. */
  get delayMs(): number {
    return this.#measuring.delayMs;
  }

  /** Looks up the measurements of some tasks in the store. Tasks of an earlier phase are not missing in this one. */
  async phaseOf(
    tasks: readonly Task[],
    { remeasure = DEFAULT_REMEASURE }: Pick<EstimateRequest, 'remeasure'>,
  ): Promise<Phase> {
    const { system } = this;
    const phase = await phaseOf(tasks, this.#results, { system, store: this.context.store, remeasure });
    const isNew = ({ request }: Task): boolean => !this.#planned.has(taskKey(request));
    const missing = phase.missing.filter(isNew);
    const disturbed = phase.disturbed.filter(isNew);
    for (const { request } of [...missing, ...disturbed]) this.#planned.add(taskKey(request));
    return { ...phase, missing, disturbed };
  }

  has({ request }: Task): boolean {
    return this.#results.get(request) !== undefined;
  }

  /** Whether the task failed on the first occasion, so that there is nothing to repeat. */
  hasFailedBefore({ request }: Task): boolean {
    if (request.occasion === FIRST_OCCASION) return false;
    return this.#results.get({ ...request, occasion: FIRST_OCCASION })?.outcome.kind === 'failure';
  }

  /** Measures the missing tasks, which the progress already expects, then the disturbed ones again. */
  async measure(
    { tasks, missing, disturbed }: Phase,
    { remeasure }: Pick<EstimateRequest, 'remeasure'>,
    progress?: RunProgress,
  ): Promise<PhaseCost> {
    const before = this.#measuring.wallMs;
    const wasMissing = new Set(missing);
    const known = tasks.filter((task) => !wasMissing.has(task));
    const knownMs = known.reduce((sum, { request }) => sum + (this.#results.get(request)?.costMs ?? 0), 0);
    this.#measured += await this.#measuring.measure(missing, remeasure, progress);
    this.#measured += await this.#measuring.replaceWhileQuiet(disturbed);
    return { nowMs: this.#measuring.wallMs - before, beforeMs: knownMs };
  }

  /** Measures a phase that turned out to be needed, with a count of its own. */
  measureMore(phase: Phase, request: Pick<EstimateRequest, 'remeasure'>): Promise<PhaseCost> {
    return this.measure(phase, request, RunProgress.of('repeating', phase.missing));
  }

  /** The phase without the tasks that failed before, which the progress then no longer expects. */
  withoutFailed(phase: Phase): Phase {
    const failed = phase.missing.filter((task) => this.hasFailedBefore(task));
    this.progress.drop(failed);
    return { ...phase, missing: phase.missing.filter((task) => !failed.includes(task)) };
  }
}

const NO_COST: PhaseCost = { nowMs: 0, beforeMs: 0 };

function sumOfCosts(one: PhaseCost, other: PhaseCost): PhaseCost {
  return { nowMs: one.nowMs + other.nowMs, beforeMs: one.beforeMs + other.beforeMs };
}

/** An evaluation whose models are cut and whose stored measurements are looked up. */
interface Plan {
  readonly request: EstimateRequest;
  readonly system: System;
  readonly models: readonly PreparedModel[];
  /** Names of the models for which the settings of the optimizer change nothing. */
  readonly unchanged: readonly string[];
  readonly preparingMs: number;
  readonly evaluating: Evaluating;
  readonly bricks: Phase;
  readonly wholes: Phase;
  /** The second measurement of the whole models. */
  readonly again: Phase;
}

/** Number of models to prepare in all, and number of them before those of a request. */
interface PreparationCount {
  readonly before: number;
  readonly total: number;
}

/**
 * Cuts the models, and looks up their measurements in the store.
 *
 * @param evaluatingOn one instance for each system, so that measurements that several plans need are taken once
 */
async function planOf(
  request: EstimateRequest,
  context: MeasuringContext,
  evaluatingOn: (system: System) => Evaluating,
  preparing: PreparationCount,
): Promise<Plan> {
  const { agent, onEvent, signal } = context;
  const { runOptions, measureEndToEnd } = request;
  const system = identifySystem(agent.description, runOptions);
  for (const loaded of request.models) {
    const message = bytesNote(loaded, request);
    if (message !== undefined) onEvent({ kind: 'note', level: 'info', message });
  }
  const startMs = performance.now();
  const prepare = (settings: CutSettings): Promise<readonly PreparedModel[]> => {
    return prepareAll(request.models, {
      settings,
      agent,
      prepare: async (loaded, ...rest) => {
        const problem = problemWithInputs(loaded, request.limits, agent);
        return problem === undefined ? prepareOrRefuse(loaded, ...rest) : refusedModel(loaded, settings, problem);
      },
      signal,
      onModel({ name }, done) {
        // Measurements are counted over the whole evaluation; how many there are is not known yet.
        const label = `preparing ${name} (${preparing.before + done} of ${preparing.total} done)`;
        onEvent({ kind: 'measuring', label, done: 0, total: 0 });
      },
    });
  };
  const prepared = await prepare(request);
  const preparingMs = performance.now() - startMs;
  const usual = optimizingRun(runOptionsOf(runOptions.threads, agent.description));
  const isUsual = request.cut === 'layer' || isDeepStrictEqual(optimizingRun(runOptions), usual);
  const unchanged = isUsual ? [] : alike(prepared, await prepare({ ...request, runOptions: usual }));
  const evaluating = evaluatingOn(system);
  const first = await evaluating.phaseOf(firstTasks(prepared, system, request), request);
  const asked = (request.measure ?? 'all') === 'all' ? first : knownPart(first, evaluating);
  const { models, bricks } = withoutTooLarge(prepared, asked, system, request, agent);
  tellOfRefusals(models, onEvent);

  const runnable = models.filter(({ refusal }) => refusal === undefined);
  const measuredWhole = measureEndToEnd ? wholeModelTasks(runnable, FIRST_OCCASION, request) : [];
  const wholes = await evaluating.phaseOf(measuredWhole, request);
  const repeated = measureEndToEnd ? wholeModelTasks(runnable, SECOND_OCCASION, request) : [];
  const repeatable = repeated.filter((task) => !evaluating.hasFailedBefore(task));
  const again = await evaluating.phaseOf(repeatable, request);
  return { request, system, models, unchanged, preparingMs, evaluating, bricks, wholes, again };
}

/** Names of the models that have the same bricks in the same order in both. */
function alike(prepared: readonly PreparedModel[], others: readonly PreparedModel[]): readonly string[] {
  const bricksOf = ({ recipe: { bricks, sequences } }: PreparedModel): unknown => [
    sequences,
    bricks.map(({ signature }) => signature),
  ];
  return prepared.flatMap((model, index) => {
    const other = others[index];
    const areBoth = model.refusal === undefined && other?.refusal === undefined;
    return areBoth && other !== undefined && isDeepStrictEqual(bricksOf(model), bricksOf(other))
      ? [model.recipe.name]
      : [];
  });
}

/** The tasks of a phase whose measurements are known; nothing is measured. */
function knownPart({ tasks }: Phase, evaluating: Evaluating): Phase {
  return { tasks: tasks.filter((task) => evaluating.has(task)), missing: [], disturbed: [] };
}

/** What predictions are made from, and the cost of measuring the bricks for which they do not suffice. */
interface Predicting {
  readonly predictor: KernelPredictor | undefined;
  readonly cost: PhaseCost;
}

/**
 * Learns from the measured kernels of the system, and measures the calls and the largest bricks where that is asked
 * for. What the bricks of this evaluation compute is kept, for later evaluations.
 */
async function predict(plan: Plan, context: MeasuringContext, earlier: Earlier | undefined): Promise<Predicting> {
  const { request, system, models, evaluating, bricks } = plan;
  const { measure = 'all' } = request;
  if (measure === 'all') {
    if (bricks.missing.length > 0 && request.cut === 'kernel') await keepKernels(context.store, models);
    return { predictor: undefined, cost: NO_COST };
  }
  const { measured, stored } = await knownKernels(context.store, models, system, request);
  await keepKernels(context.store, models, stored);
  const predictor = new KernelPredictor(measured);
  let cost = NO_COST;
  if (measure === 'none') {
    for (let occasion = SECOND_OCCASION; occasion <= MOST_OCCASIONS; occasion++) {
      const again = bricks.tasks.map((task) => ({ ...task, request: { ...task.request, occasion } }));
      await evaluating.phaseOf(again, request);
    }
    return { predictor, cost };
  }
  const tried = new Set<string>();
  const measureAll = async (tasks: readonly Task[]): Promise<void> => {
    const missing = tasks.filter((task) => !evaluating.has(task) && !tried.has(taskKey(task.request)));
    for (const { request: asked } of missing) tried.add(taskKey(asked));
    cost = sumOfCosts(cost, await evaluating.measureMore({ tasks, missing, disturbed: [] }, request));
  };
  await measureAll(distinctTasks(models.flatMap((model) => callTasks(model, request))));
  for (let before = -1; before < tried.size && !context.signal.aborted;) {
    before = tried.size;
    const observations = observationsOf(evaluating.results.measurements());
    const recipes = models.map(({ recipe, facts }) => ({ recipe, facts, context: contextOf(recipe, system) }));
    const spreads = spreadsOfSystem(recipes, observations, { earlier });
    const estimates = recipes.map((recipe) => compose(recipe, observations, spreadsFor(spreads), predictor));
    const tasks = largestTasks(models, estimates, predictor.commonError, system, request, request.precision);
    await measureAll(tasks);
  }
  return { predictor, cost };
}

/** Measures what a plan lacks, and composes. */
async function carryOut(plan: Plan, context: MeasuringContext): Promise<EstimateResult> {
  const { request, system, models, unchanged, preparingMs, evaluating, bricks, wholes, again } = plan;
  const [measuredBefore, delayBeforeMs] = [evaluating.measured, evaluating.delayMs];
  const known = await evaluating.measure(bricks, request);
  const isRepeated = request.cut === 'kernel' && request.measure !== 'none';
  const earlier = request.cut === 'kernel' ? await earlierRuns(context.store, system, request.protocol) : undefined;
  const { predictor, cost } = await predict(plan, context, earlier);
  const firstCost = sumOfCosts(known, cost);
  const wholesCost = await evaluating.measure(wholes, request);
  const repeat = async (wholes: Wholes): Promise<PhaseCost> => {
    if (!isRepeated) return NO_COST;
    return repeatBricks(models, evaluating, system, request, context, { wholes, earlier });
  };
  // These whole models have no second measurement yet, also where the store has one: every run decides alike.
  const ownWholes = request.measureEndToEnd ? models.map(({ whole }) => [whole.signature, []] as const) : [];
  const beforeRepeat = await repeat(new Map(ownWholes));
  const repeatCost = await evaluating.measure(evaluating.withoutFailed(again), request);
  // The spread of whole models is known now, and may make intervals wider.
  const againCost = sumOfCosts(
    beforeRepeat,
    request.measureEndToEnd ? await repeat(wholesOf(models, evaluating.results, request)) : NO_COST,
  );
  const checks =
    request.check === true
      ? await checkModels(models, system, request, context, request.remeasure?.kind === 'all')
      : undefined;
  if (request.measureEndToEnd) {
    const { traceUrlTemplate } = request;
    const documents = { ...context, traceUrlTemplate };
    await keepPlatformDocuments(request.models, models, evaluating.results, request, documents);
  }

  const interrupted =
    context.signal.aborted ||
    phasesOf(plan).some(({ tasks }) => {
      return tasks.some((task) => !evaluating.has(task) && !evaluating.hasFailedBefore(task));
    });
  const unusable = (request.unusable ?? []).map(unreadModel);
  const composed = composeAll([...models, ...unusable], evaluating.results, system, {
    ...request,
    precision: isRepeated ? request.precision : undefined,
    interrupted,
    earlier,
    predictor,
    machines: await machineSpreadOf(system, context),
    measured: evaluating.measured - measuredBefore,
    checks: checks?.runs,
    costs: {
      readingMs: request.readingMs,
      preparingOfModelsMs: models.map(({ costMs }) => costMs),
      // The time of this run, or the earlier time where graphs were optimized before.
      preparingMs: Math.max(
        preparingMs,
        models.reduce((sum, { costMs }) => sum + costMs, 0),
      ),
      bricksFirst: firstCost,
      bricksAgain: againCost,
      modelsFirst: wholesCost,
      modelsAgain: repeatCost,
      delayMs: evaluating.delayMs - delayBeforeMs,
      checkMs: checks?.wallMs,
    },
  });
  return { ...composed, unchanged };
}

/**
 * Cuts models into bricks, measures each unique brick that the store lacks, and composes the models'
 * latencies. Every measurement is in the store as soon as it is taken, so that an interrupted evaluation continues
 * where it stopped.
 *
 * @throws PlatformError where a model cannot be used, or the agent or the store fails; a benchmark that fails is a
 *   result, not an error
 */
export async function evaluate(request: EstimateRequest, context: MeasuringContext): Promise<EstimateResult> {
  const [result] = await evaluateAll([request], context);
  if (result === undefined) throw new PlatformError('internal', 'an evaluation ended without a result');
  return result;
}

/**
 * Runs several evaluations, as in a sweep. They are planned together, with one count of progress, and carried out one
 * after another.
 *
 * @returns a result for each request, in their order
 * @throws PlatformError as {@link evaluate}
 */
export async function evaluateAll(
  requests: readonly EstimateRequest[],
  context: MeasuringContext,
): Promise<readonly EstimateResult[]> {
  const progress = new RunProgress();
  const evaluatings = new Map<string, Evaluating>();
  const plans: Plan[] = [];
  const total = requests.reduce((sum, { models }) => sum + models.length, 0);
  let before = 0;
  for (const request of requests) {
    const { cut, protocol, limits, models } = request;
    const evaluatingOn = (system: System): Evaluating => {
      // An instance has the results of one system and one setup.
      const key = JSON.stringify([system.fingerprint, cut, protocolKey(protocol), limits]);
      const evaluating = evaluatings.get(key) ?? new Evaluating(context, progress, system);
      evaluatings.set(key, evaluating);
      return evaluating;
    };
    plans.push(await planOf(request, context, evaluatingOn, { before, total }));
    before += models.length;
  }
  for (const { missing } of plans.flatMap(phasesOf)) progress.add(missing);
  context.onEvent(plannedEvent(plans, requests, context));
  const results: EstimateResult[] = [];
  for (const plan of plans) results.push(await carryOut(plan, context));
  return results;
}

function phasesOf({ bricks, wholes, again }: Plan): readonly Phase[] {
  return [bricks, wholes, again];
}

/** Refuses models that need a measurement of a brick, and whose largest brick does not fit into memory. */
function withoutTooLarge(
  prepared: readonly PreparedModel[],
  asked: Phase,
  system: System,
  request: EstimateRequest,
  agent: MeasuringContext['agent'],
): { readonly models: readonly PreparedModel[]; readonly bricks: Phase } {
  const missing = new Set(asked.missing.map((task) => task.request.benchmark.signature));
  const models = prepared.map((model, index) => {
    const loaded = request.models[index];
    const needsNone = !model.bricks.some(({ signature }) => missing.has(signature));
    return loaded === undefined || needsNone ? model : refusedIfTooLarge(model, loaded, request.limits, agent);
  });
  if (models.every((model, index) => model === prepared[index])) return { models, bricks: asked };
  const wanted = new Set(firstTasks(models, system, request).map((task) => taskKey(task.request)));
  const among = (tasks: readonly Task[]): readonly Task[] => tasks.filter((task) => wanted.has(taskKey(task.request)));
  const { tasks, missing: toMeasure, disturbed } = asked;
  return { models, bricks: { tasks: among(tasks), missing: among(toMeasure), disturbed: among(disturbed) } };
}

/** @throws PlatformError `unsupported` where every model is refused: then there is nothing to measure */
function tellOfRefusals(models: readonly PreparedModel[], onEvent: MeasuringContext['onEvent']): void {
  const refusals = models.flatMap(({ recipe, refusal }) => (refusal === undefined ? [] : `${recipe.name}: ${refusal}`));
  if (models.length > 0 && refusals.length === models.length) {
    throw new PlatformError('unsupported', refusals.join('\n'));
  }
  for (const message of refusals) onEvent({ kind: 'note', level: 'warning', message });
}

/** A model that could not be read, with its reason. */
function unreadModel({ name, reason }: UnusableModel): ComposableModel {
  return { recipe: { name, layers: 0, bricks: [], sequences: [], edges: [] }, refusal: reason };
}

/** Announces the measurements. */
function plannedEvent(
  plans: readonly Plan[],
  requests: readonly EstimateRequest[],
  { agent }: Pick<MeasuringContext, 'agent'>,
): EvaluationEvent {
  const phases = plans.flatMap(phasesOf);
  const toMeasure = phases.reduce((sum, { missing }) => sum + missing.length, 0);
  const known = phases.reduce((sum, { tasks }) => sum + tasks.length, 0) - toMeasure;
  const models = plans.flatMap((plan) => plan.models);
  const layers = models.reduce((sum, { recipe }) => sum + recipe.layers, 0);
  const sequences = models.reduce((sum, { recipe }) => sum + recipe.sequences.length, 0);
  const unique = plans.reduce((sum, plan) => sum + uniqueBricks(plan.models).length, 0);
  const cuttings = requests.map((request) => ({
    cut: request.cut,
    granularity: granularityOf(request, agent.description),
  }));
  const parts = partsInWords(counted(layers, 'layer'), { sequences, unique }, cuttings);
  const summary = `${parts}; ${counted(toMeasure, 'measurement')} to take, ${known} known already`;
  return { kind: 'planned', summary, known, toMeasure };
}

/** Measures bricks on further occasions, as far as the models' intervals need it. */
async function repeatBricks(
  models: readonly PreparedModel[],
  evaluating: Evaluating,
  system: System,
  request: EstimateRequest,
  context: MeasuringContext,
  known: KnownOfSystem,
): Promise<PhaseCost> {
  let cost = NO_COST;
  for (;;) {
    const observations = observationsOf(evaluating.results.measurements());
    const tasks = tasksOfNextOccasion(models, observations, system, request, request.precision, known);
    // This ends: each brick has a limited number of occasions, and a brick whose measurement failed is not tried again.
    if (tasks.length === 0) return cost;
    const phase = await evaluating.phaseOf(tasks, request);
    if (phase.missing.length > 0 && !context.signal.aborted) {
      const bricks = counted(phase.missing.length, 'brick');
      const message = `repeating ${bricks} in a new process; the spread between processes sets the interval`;
      context.onEvent({ kind: 'note', level: 'info', message });
    }
    cost = sumOfCosts(cost, await evaluating.measureMore(phase, request));
    if (!tasks.every((task) => evaluating.has(task))) return cost;
  }
}
