import {
  type LoadedModel,
  type Measurement,
  PlatformError,
  type System,
  type UnusableModel,
} from '../../src/plugin-api.js';
import { contextOf, modelNeeds } from './bricks/needs.js';
import { prepareAll } from './bricks/prepare-all.js';
import { type CutSettings, prepareOrRefuse, type PreparedModel } from './bricks/prepare-model.js';
import { kernelsOf } from './bricks/recipe.js';
import { uniqueBricks } from './bricks/unique-bricks.js';
import { spreadBetweenOccasions } from './estimate/brick-latency.js';
import { benchmarkKey, type Observations } from './estimate/observations.js';
import { compose, type Estimate } from './estimate/compose.js';
import { Measuring, type MeasuringContext } from './measure/measure-all.js';
import { limitOf, type Precision, tasksOfNextOccasion } from './measure/next-occasion.js';
import { keepPlatformDocuments } from './measure/platform-documents.js';
import { type Phase, phaseOf } from './measure/phase.js';
import { DEFAULT_REMEASURE, type Remeasure } from './measure/remeasure.js';
import { KnownResults } from './measure/results.js';
import {
  firstTasks,
  FIRST_OCCASION,
  type MeasureSettings,
  SECOND_OCCASION,
  type Task,
  wholeModelTasks,
} from './measure/tasks.js';
import type { EndToEnd, EstimateResult, ModelResult, PhaseCost } from './report/evaluation-result.js';

/** What to estimate, and how. */
export interface EstimateRequest extends CutSettings, MeasureSettings {
  readonly models: readonly LoadedModel[];
  /** Further models that could not be read: they get a row with the reason. */
  readonly unusable?: readonly UnusableModel[] | undefined;
  /** Wall time that reading the models took, and what came before; ms. */
  readonly readingMs: number;
  /** Measure each whole model as well, before most bricks and again at the end. */
  readonly measureEndToEnd: boolean;
  /** Precision that bricks at the kernel cut need. */
  readonly precision: Precision;
  /** The stored measurements that are taken again; by default disturbed ones, while the machine is quiet. */
  readonly remeasure?: Remeasure | undefined;
}

/** One evaluation: its known measurements, its new ones, and their cost. */
class Evaluating {
  readonly #results = new KnownResults();
  readonly #measuring: Measuring;
  #measured = 0;
  #done = 0;

  constructor(
    private readonly context: MeasuringContext,
    private readonly system: System,
    private readonly remeasure: Remeasure,
  ) {
    this.#measuring = new Measuring(context, this.#results);
  }

  get results(): KnownResults {
    return this.#results;
  }

  get measured(): number {
    return this.#measured;
  }

  /** Looks up the measurements of some tasks in the store. */
  phaseOf(tasks: readonly Task[]): Promise<Phase> {
    const { system, remeasure } = this;
    return phaseOf(tasks, this.#results, { system, store: this.context.store, remeasure });
  }

  has({ request }: Task): boolean {
    return this.#results.get(request) !== undefined;
  }

  /** Whether the task failed on the first occasion, so that there is nothing to repeat. */
  hasFailedBefore({ request }: Task): boolean {
    if (request.occasion === FIRST_OCCASION) return false;
    return this.#results.get({ ...request, occasion: FIRST_OCCASION })?.outcome.kind === 'failure';
  }

  /**
   * Measures the missing tasks, then disturbed ones again.
   *
   * @param total of the measurements that are counted as one
   */
  async measure({ tasks, missing, disturbed }: Phase, total?: number): Promise<PhaseCost> {
    const before = this.#measuring.wallMs;
    const wasMissing = new Set(missing);
    const known = tasks.filter((task) => !wasMissing.has(task));
    const knownMs = known.reduce((sum, { request }) => sum + (this.#results.get(request)?.costMs ?? 0), 0);
    const position = total === undefined ? undefined : { before: this.#done, total };
    const measured = await this.#measuring.measure(missing, position);
    this.#measured += measured;
    if (total !== undefined) this.#done += measured;
    this.#measured += await this.#measuring.replaceWhileQuiet(disturbed);
    return { nowMs: this.#measuring.wallMs - before, beforeMs: knownMs };
  }
}

const NO_COST: PhaseCost = { nowMs: 0, beforeMs: 0 };

function sumOfCosts(one: PhaseCost, other: PhaseCost): PhaseCost {
  return { nowMs: one.nowMs + other.nowMs, beforeMs: one.beforeMs + other.beforeMs };
}

/**
 * The main job: cuts models into bricks, measures each unique brick that the store lacks, and composes the models'
 * latencies. Every measurement is in the store as soon as it is taken, so that an interrupted evaluation continues
 * where it stopped.
 *
 * @throws PlatformError where a model cannot be used, or the agent or the store fails; a benchmark that fails is a
 *   result, not an error
 */
export async function evaluate(request: EstimateRequest, context: MeasuringContext): Promise<EstimateResult> {
  const { agent, onEvent, signal } = context;
  const { runOptions, measureEndToEnd, remeasure = DEFAULT_REMEASURE } = request;

  const system = await agent.system(runOptions);
  const startMs = performance.now();
  const models = await prepareAll(request.models, {
    settings: request,
    agent,
    prepare: prepareOrRefuse,
    signal,
    onModel({ name }, done) {
      onEvent({ kind: 'measuring', label: `preparing ${name}`, done, total: request.models.length });
    },
  });
  const preparingMs = performance.now() - startMs;
  tellOfRefusals(models, onEvent);

  const evaluating = new Evaluating(context, system, remeasure);
  const bricks = await evaluating.phaseOf(firstTasks(models, system, request));
  const runnable = models.filter(({ refusal }) => refusal === undefined);
  const wholes = await evaluating.phaseOf(measureEndToEnd ? wholeModelTasks(runnable, FIRST_OCCASION, request) : []);
  const repeated = measureEndToEnd ? wholeModelTasks(runnable, SECOND_OCCASION, request) : [];
  const again = await evaluating.phaseOf(repeated.filter((task) => !evaluating.hasFailedBefore(task)));
  const phases = [bricks, wholes, again];
  const total = phases.reduce((sum, { missing }) => sum + missing.length, 0);
  const known = phases.reduce((sum, { tasks }) => sum + tasks.length, 0) - total;
  onEvent({ kind: 'planned', summary: plannedLine(models, total, known), known, toMeasure: total });

  const firstCost = await evaluating.measure(bricks, total);
  const wholesCost = await evaluating.measure(wholes, total);
  const againCost =
    request.cut === 'kernel' ? await repeatBricks(models, evaluating, system, request, context) : NO_COST;
  const worthRepeating = again.missing.filter((task) => !evaluating.hasFailedBefore(task));
  const repeatCost = await evaluating.measure({ ...again, missing: worthRepeating }, total);
  if (measureEndToEnd) {
    await keepPlatformDocuments(request.models, models, evaluating.results, request, context.store);
  }

  const interrupted =
    signal.aborted ||
    phases.some(({ tasks }) => {
      return tasks.some((task) => !evaluating.has(task) && !evaluating.hasFailedBefore(task));
    });
  const unusable = (request.unusable ?? []).map(unreadModel);
  return composeAll([...models, ...unusable], evaluating.results, system, {
    ...request,
    interrupted,
    measured: evaluating.measured,
    costs: {
      readingMs: request.readingMs,
      // What it took now, or where graphs were optimized before, what it took then.
      preparingMs: Math.max(
        preparingMs,
        models.reduce((sum, { costMs }) => sum + costMs, 0),
      ),
      bricksFirst: firstCost,
      bricksAgain: againCost,
      modelsFirst: wholesCost,
      modelsAgain: repeatCost,
    },
  });
}

/** @throws PlatformError `unsupported` where the runtime refuses every model: then there is nothing to measure */
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

/** Announces what is measured. */
function plannedLine(models: readonly PreparedModel[], toMeasure: number, known: number): string {
  const layers = models.reduce((sum, { recipe }) => sum + recipe.layers, 0);
  const sequences = models.reduce((sum, { recipe }) => sum + recipe.sequences.length, 0);
  const unique = uniqueBricks(models).length;
  return `${layers} layers, ${unique} unique bricks for ${sequences} sequences; ${toMeasure} measurements to take, ${known} known already`;
}

/** Measures bricks on further occasions, as far as the models' intervals need it. */
async function repeatBricks(
  models: readonly PreparedModel[],
  evaluating: Evaluating,
  system: System,
  request: EstimateRequest,
  context: MeasuringContext,
): Promise<PhaseCost> {
  let cost = NO_COST;
  for (;;) {
    const observations = evaluating.results.observations();
    const tasks = tasksOfNextOccasion(models, observations, system, request, request.precision);
    // This ends: each brick has a limited number of occasions, and a brick whose measurement failed is not tried again.
    if (tasks.length === 0) return cost;
    const phase = await evaluating.phaseOf(tasks);
    if (phase.missing.length > 0 && !context.signal.aborted) {
      const bricks = phase.missing.length === 1 ? '1 brick' : `${phase.missing.length} bricks`;
      const message = `repeating ${bricks} in a new process; the spread between processes sets the interval`;
      context.onEvent({ kind: 'note', level: 'info', message });
    }
    cost = sumOfCosts(cost, await evaluating.measure(phase));
    if (!tasks.every((task) => evaluating.has(task))) return cost;
  }
}

/** Input of composing beside the models and their measurements. */
export interface ComposeSettings extends MeasureSettings, Pick<EstimateRequest, 'cut' | 'measureEndToEnd'> {
  /** undefined where this run does not repeat bricks. */
  readonly precision?: Precision | undefined;
  readonly interrupted: boolean;
  readonly measured: number;
  readonly costs: EstimateResult['costs'];
}

/** A model to compose: its recipe, and what is known of the whole where that was asked for. */
export type ComposableModel = Pick<PreparedModel, 'recipe'> &
  Partial<Pick<PreparedModel, 'whole' | 'refusal' | 'kernelCheck'>>;

/** Composes every model's latency from the measurements. */
export function composeAll(
  models: readonly ComposableModel[],
  results: KnownResults,
  system: System,
  settings: ComposeSettings,
): EstimateResult {
  const { cut, protocol, measureEndToEnd, precision, interrupted, measured, costs } = settings;
  const observations = results.observations();
  const inContext = models.map(({ recipe }) => ({ recipe, context: contextOf(recipe, system) }));
  const spread = spreadBetweenOccasions(inContext, observations);
  const wholeOf = ({ whole: benchmark, refusal }: ComposableModel): EndToEnd | undefined => {
    if (!measureEndToEnd || benchmark === undefined || refusal !== undefined) return undefined;
    const on = (occasion: number): Measurement | undefined => results.get({ benchmark, occasion, ...settings });
    return { signature: benchmark.signature, first: on(FIRST_OCCASION), repeat: on(SECOND_OCCASION) };
  };
  return {
    system,
    models: models.map((model, index): ModelResult => {
      const { recipe, context } = inContext[index] ?? { recipe: model.recipe, context: undefined };
      const estimate = withRefusal(compose({ recipe, context }, observations, spread), model);
      return {
        estimate,
        endToEnd: wholeOf(model),
        limitedBy: interrupted || precision === undefined ? undefined : limitOf(estimate, precision),
        kernels: cut === 'kernel' ? kernelsOf(recipe) : undefined,
        kernelCheck: model.kernelCheck,
      };
    }),
    bricks: measurementsOf(
      inContext.flatMap(({ recipe }) => modelNeeds(recipe, system, protocol)),
      observations,
    ),
    spread,
    sequences: models.reduce((sum, { recipe }) => sum + recipe.sequences.length, 0),
    uniqueBricks: new Set(models.flatMap(({ recipe }) => recipe.bricks.map(({ signature }) => signature))).size,
    measured,
    interrupted,
    costs,
  };
}

function withRefusal(estimate: Estimate, { refusal, whole }: ComposableModel): Estimate {
  if (refusal === undefined) return estimate;
  const signature = whole?.signature ?? '';
  return { ...estimate, missing: [{ signature, operators: ['whole graph'], shapes: [], count: 1, reason: refusal }] };
}

/** All measurements of the models' bricks, each occasion once. */
function measurementsOf(needs: ReturnType<typeof modelNeeds>, observations: Observations): readonly Measurement[] {
  const keys = new Set(needs.map(({ signature, context }) => benchmarkKey(signature, context)));
  return [...keys].flatMap((key) => observations.get(key) ?? []);
}
