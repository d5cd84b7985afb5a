import { isDeepStrictEqual } from 'node:util';
import pMap from 'p-map';
import {
  counted,
  type EvaluationEvent,
  identifySystem,
  type LoadedModel,
  readMachineSpread,
  type MeasuringContext,
  optimizingRun,
  type MeasuringPlan,
  PlatformError,
  protocolKey,
  buildRunOptions,
  RunProgress,
  SharedClock,
  sumOf,
  type System,
  type Task,
  taskKey,
  groupedBy,
} from '../../src/plugin-api.js';
import { type CutSettings, chooseGranularity } from './bricks/decompose.js';
import {
  MAX_CONCURRENT,
  prepareAll,
  prepareOrRefuse,
  type PreparedModel,
  problemWithInputs,
  refusedIfTooLarge,
  refusedModel,
} from './bricks/prepare-model.js';
import { countKernels } from './bricks/recipe.js';
import { uniqueBricks } from './bricks/unique-bricks.js';
import { bytesNote, nodesNote } from './bricks/prepare-extended.js';
import { groupObservations } from './estimate/brick-latency.js';
import { type ComposableModel, composeAll, listWholeLatencies } from './compose-all.js';
import { checkModels } from './measure/check-models.js';
import { type KnownOfSystem, type Wholes } from './estimate/spreads-of-system.js';
import { type EstimateRequest, NO_COST, type Plan, type Prepared, SystemRun, sumOfCosts } from './system-run.js';
import { tasksOfNextOccasion } from './measure/next-occasion.js';
import { predictBricks } from './predict-bricks.js';
import { keepPlatformDocuments } from './measure/platform-documents.js';
import { FIRST_OCCASION, firstTasks, SECOND_OCCASION, wholeModelTasks } from './measure/tasks.js';
import { partsInWords } from './report/configuration.js';
import type { EstimateResult, MeasuringCost } from './report/evaluation-result.js';

async function prepareRequest(
  request: EstimateRequest,
  context: MeasuringContext,
  onModel: (model: LoadedModel, done: number) => void,
  clock: SharedClock,
): Promise<Prepared> {
  const { agent } = context;
  const { runOptions } = request;
  const prepare = (settings: CutSettings): Promise<readonly PreparedModel[]> => {
    const prepareOne: typeof prepareOrRefuse = async (loaded, ...rest) => {
      const problem = problemWithInputs(loaded, request.limits, agent);
      return problem === undefined ? prepareOrRefuse(loaded, ...rest) : refusedModel(loaded, settings, problem);
    };
    return prepareAll(request.models, settings, context, prepareOne, onModel);
  };
  clock.begin();
  const startMs = clock.ms;
  try {
    const models = await prepare(request);
    const preparingMs = clock.ms - startMs;
    const usual = optimizingRun(buildRunOptions(runOptions.threads, agent.description));
    const isUsual = request.cut === 'layer' || isDeepStrictEqual(optimizingRun(runOptions), usual);
    const unchanged = isUsual ? [] : alike(models, await prepare({ ...request, runOptions: usual }));
    return { models, unchanged, preparingMs };
  } finally {
    clock.end();
  }
}

/**
 * Cuts the models of all requests. Requests for the same models are prepared one after another, because they need the
 * same graphs; as many others beside each other as the agent's machine has cores.
 */
async function prepareRequests(
  requests: readonly EstimateRequest[],
  context: MeasuringContext,
): Promise<ReadonlyMap<EstimateRequest, Prepared>> {
  const { agent, onEvent } = context;
  const total = sumOf(requests.map(({ models }) => models.length));
  const clock = new SharedClock();
  const prepared = new Map<EstimateRequest, Prepared>();
  let before = 0;
  const onModel = ({ name }: LoadedModel, done: number): void => {
    // Measurements are counted over the whole evaluation; how many there are is not known yet.
    const label = `preparing ${name} (${before + done} of ${total} done)`;
    onEvent({ kind: 'measuring', label, done: 0, total: 0 });
  };
  const prepareGroup = async (group: readonly EstimateRequest[]): Promise<void> => {
    for (const request of group) {
      prepared.set(request, await prepareRequest(request, context, onModel, clock));
      before += request.models.length;
    }
  };
  const groups = [...groupedBy(requests, ({ models }) => models).values()];
  await pMap(groups, prepareGroup, { concurrency: Math.min(agent.description.cores, MAX_CONCURRENT) });
  return prepared;
}

/** Looks up the measurements of prepared models in the store. */
async function planMeasurements(
  request: EstimateRequest,
  { models: prepared, unchanged, preparingMs }: Prepared,
  { agent, onEvent }: MeasuringContext,
  run: SystemRun,
): Promise<Plan> {
  const { system } = run;
  const { measureEndToEnd } = request;
  const first = await run.plan(firstTasks(prepared, system, request), request);
  const isAllMeasured = (request.measure ?? 'all') === 'all';
  // What is taken again counts as unknown: it is predicted, or measured where it matters most.
  if (!isAllMeasured) for (const task of first.missing) run.results.outdate(task.request);
  const asked = isAllMeasured
    ? first
    : { tasks: first.tasks.filter((task) => run.has(task)), missing: [], disturbed: [] };
  const { models, bricks } = withoutTooLarge(prepared, asked, system, request, agent);
  tellOfRefusals(models, onEvent);

  const runnable = models.filter(({ refusal }) => refusal === undefined);
  const measuredWhole = measureEndToEnd ? wholeModelTasks(runnable, FIRST_OCCASION, request) : [];
  const wholes = await run.plan(measuredWhole, request);
  const repeated = measureEndToEnd ? wholeModelTasks(runnable, SECOND_OCCASION, request) : [];
  const repeatable = repeated.filter((task) => !run.hasFailedBefore(task));
  const again = await run.plan(repeatable, request);
  return { request, models, unchanged, preparingMs, run, bricks, wholes, again };
}

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

async function carryOut(plan: Plan, context: MeasuringContext): Promise<EstimateResult> {
  const { request, models, unchanged, preparingMs, run, bricks, wholes, again } = plan;
  const { system } = run;
  const measuredBefore = run.measured;
  const delayBeforeMs = run.delayMs;
  const known = await run.measure(bricks, request);
  const isRepeated = request.cut === 'kernel' && request.measure !== 'none';
  const earlier = request.cut === 'kernel' ? await run.earlierRuns(request.protocol) : undefined;
  const { predictor, cost } = await predictBricks(plan, context, earlier);
  const firstCost = sumOfCosts(known, cost);
  const wholesCost = await run.measure(wholes, request);
  const repeat = async (wholes: Wholes): Promise<MeasuringCost> => {
    if (!isRepeated) return NO_COST;
    return repeatBricks(models, run, request, context, { wholes, earlier });
  };
  // These whole models have no second measurement yet, also where the store has one: every run decides alike.
  const ownWholes = request.measureEndToEnd ? models.map(({ whole }) => [whole.signature, []] as const) : [];
  const beforeRepeat = await repeat(new Map(ownWholes));
  const repeatCost = await run.measure(run.withoutFailed(again), request);
  // The spread of whole models is known now, and may make intervals wider.
  const againCost = sumOfCosts(
    beforeRepeat,
    request.measureEndToEnd ? await repeat(listWholeLatencies(models, run.results, request)) : NO_COST,
  );
  const checks =
    request.check === true
      ? await checkModels(models, system, request, context, request.remeasure?.kind === 'all')
      : undefined;
  if (request.measureEndToEnd) await keepPlatformDocuments(request.models, models, run.results, request, context);

  const interrupted =
    context.signal.aborted ||
    phasesOf(plan).some(({ tasks }) => {
      return tasks.some((task) => !run.has(task) && !run.hasFailedBefore(task));
    });
  const unusable = (request.unusable ?? []).map(({ name, reason }): ComposableModel => {
    return { recipe: { name, layers: 0, bricks: [], sequences: [], edges: [] }, refusal: reason };
  });
  const composed = composeAll([...models, ...unusable], run.results, system, {
    ...request,
    precision: isRepeated ? request.precision : undefined,
    interrupted,
    earlier,
    predictor,
    machines: await readMachineSpread(system, context),
    measured: run.measured - measuredBefore,
    checks: checks?.runs,
    costs: {
      readingMs: request.readingMs,
      preparingOfModelsMs: models.map(({ costMs }) => costMs),
      // The time of this run, or the earlier time where graphs were optimized before.
      preparingMs: Math.max(preparingMs, sumOf(models.map(({ costMs }) => costMs))),
      bricksFirst: firstCost,
      bricksAgain: againCost,
      modelsFirst: wholesCost,
      modelsAgain: repeatCost,
      delayMs: run.delayMs - delayBeforeMs,
      checkMs: checks?.wallMs,
    },
  });
  return { ...composed, unchanged };
}

/**
 * Cuts models into bricks, measures each unique brick that the store lacks, and composes the models' latencies. Several
 * evaluations, as in a sweep, are planned together, with one count of progress, and carried out one after another.
 * Every measurement is in the store as soon as it is taken, so that an interrupted evaluation continues where it
 * stopped.
 *
 * @returns a result for each request, in their order
 * @throws PlatformError where the agent or the store fails; a model or a benchmark that fails is a result, not an error
 */
export async function evaluateAll(
  requests: readonly EstimateRequest[],
  context: MeasuringContext,
): Promise<readonly EstimateResult[]> {
  const progress = new RunProgress();
  const runsBySystem = new Map<string, SystemRun>();
  const plans: Plan[] = [];
  for (const request of requests) {
    for (const loaded of request.models) {
      for (const message of [bytesNote(loaded, request), nodesNote(loaded, request)]) {
        if (message !== undefined) context.onEvent({ kind: 'note', level: 'info', message });
      }
    }
  }
  const prepared = await prepareRequests(requests, context);
  for (const request of requests) {
    const ofRequest = prepared.get(request);
    if (ofRequest === undefined) throw new PlatformError('internal', 'the models of a request were not prepared');
    const { cut, protocol, limits, runOptions } = request;
    const system = identifySystem(context.agent.description, runOptions);
    // An instance has the results of one system and one setup.
    const key = JSON.stringify([system.fingerprint, cut, protocolKey(protocol), limits]);
    const run = runsBySystem.get(key) ?? new SystemRun(context, progress, system);
    runsBySystem.set(key, run);
    plans.push(await planMeasurements(request, ofRequest, context, run));
  }
  for (const { missing } of plans.flatMap(phasesOf)) progress.add(missing);
  context.onEvent(plannedEvent(plans, requests, context));
  const results: EstimateResult[] = [];
  for (const plan of plans) results.push(await carryOut(plan, context));
  return results;
}

function phasesOf({ bricks, wholes, again }: Plan): readonly MeasuringPlan[] {
  return [bricks, wholes, again];
}

/** Refuses models that need a measurement of a brick, and whose largest brick does not fit into memory. */
function withoutTooLarge(
  prepared: readonly PreparedModel[],
  asked: MeasuringPlan,
  system: System,
  request: EstimateRequest,
  agent: MeasuringContext['agent'],
): { readonly models: readonly PreparedModel[]; readonly bricks: MeasuringPlan } {
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

function tellOfRefusals(models: readonly PreparedModel[], onEvent: MeasuringContext['onEvent']): void {
  const refusals = models.flatMap(({ recipe, refusal }) => (refusal === undefined ? [] : `${recipe.name}: ${refusal}`));
  for (const message of refusals) onEvent({ kind: 'note', level: 'warning', message });
}

function plannedEvent(
  plans: readonly Plan[],
  requests: readonly EstimateRequest[],
  { agent }: Pick<MeasuringContext, 'agent'>,
): EvaluationEvent {
  const phases = plans.flatMap(phasesOf);
  // Plans with different settings of the optimizer may share bricks.
  const countOf = (tasks: readonly Task[]): number => {
    const keys = tasks.map(({ request }) => {
      return [taskKey(request), request.runOptions, request.protocol, request.limits];
    });
    return new Set(keys.map((key) => JSON.stringify(key))).size;
  };
  const toMeasure = countOf(phases.flatMap(({ missing }) => missing));
  const known = countOf(phases.flatMap(({ tasks }) => tasks)) - toMeasure;
  const models = plans.flatMap((plan) => plan.models);
  const layers = models.reduce((sum, { recipe }) => sum + recipe.layers, 0);
  const sequences = models.reduce((sum, { recipe }) => sum + recipe.sequences.length, 0);
  const kernels = models.reduce((sum, { recipe }) => sum + countKernels(recipe), 0);
  const unique = plans.reduce((sum, plan) => sum + uniqueBricks(plan.models).length, 0);
  const cuttings = requests.map((request) => ({
    cut: request.cut,
    granularity: chooseGranularity(request, agent.description),
  }));
  const parts = partsInWords(counted(layers, 'layer'), { sequences, unique, kernels }, cuttings);
  const summary = `${parts}; ${counted(toMeasure, 'measurement')} to take, ${known} known already`;
  return { kind: 'planned', summary, known, toMeasure };
}

/** Measures bricks on further occasions, as far as the models' intervals need it. */
async function repeatBricks(
  models: readonly PreparedModel[],
  run: SystemRun,
  request: EstimateRequest,
  context: MeasuringContext,
  known: KnownOfSystem,
): Promise<MeasuringCost> {
  let cost = NO_COST;
  for (;;) {
    const observations = groupObservations(run.results.measurements());
    const tasks = tasksOfNextOccasion(models, observations, run.system, request, request.precision, known);
    // This ends: each brick has a limited number of occasions, and a brick whose measurement failed is not tried again.
    if (tasks.length === 0) return cost;
    const round = await run.plan(tasks, request);
    if (round.missing.length > 0 && !context.signal.aborted) {
      const bricks = counted(round.missing.length, 'brick');
      const message = `repeating ${bricks} in a new process; the spread between processes sets the interval`;
      context.onEvent({ kind: 'note', level: 'info', message });
    }
    cost = sumOfCosts(cost, await run.measureMore(round, request));
    if (!tasks.every((task) => run.has(task))) return cost;
  }
}
