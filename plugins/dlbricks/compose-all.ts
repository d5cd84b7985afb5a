import {
  type KnownResults,
  type MachineSpread,
  type Measurement,
  subjectKey,
  type System,
} from '../../src/plugin-api.js';
import { computeContext, modelNeeds } from './bricks/needs.js';
import type { CutSettings } from './bricks/decompose.js';
import type { PreparedModel } from './bricks/prepare-model.js';
import { countKernels } from './bricks/recipe.js';
import {
  brickKey,
  occasionSummary,
  type RecipeInContext,
  type Observations,
  groupObservations,
} from './estimate/brick-latency.js';
import { type CheckedRun, compareKernels } from './estimate/compare-kernels.js';
import { compose, type Estimate } from './estimate/compose.js';
import type { Margin } from './estimate/interval.js';
import { type Earlier, spreadsFor, spreadsOfSystem, type Wholes } from './estimate/spreads-of-system.js';
import type { KernelPredictor } from './predict/kernel-predictor.js';
import { findLimit, type Precision } from './measure/next-occasion.js';
import { FIRST_OCCASION, type MeasureSettings, SECOND_OCCASION } from './measure/tasks.js';
import type { EndToEnd, EstimateResult, ModelResult } from './report/evaluation-result.js';

export interface ComposeSettings extends MeasureSettings, Pick<CutSettings, 'cut'> {
  readonly measureEndToEnd?: boolean;
  /** undefined where this run does not repeat bricks. */
  readonly precision?: Precision | undefined;
  readonly interrupted?: boolean;
  readonly measured?: number;
  readonly costs?: EstimateResult['costs'];
  /** Runs of the whole optimized graphs, in the order of the models; undefined where they were not asked for. */
  readonly checks?: readonly (CheckedRun | undefined)[] | undefined;
  readonly earlier?: Earlier | undefined;
  /** For bricks that were not measured; without it, they are missing. */
  readonly predictor?: KernelPredictor | undefined;
  /** How far the machines of the measurements differ; undefined for one machine. */
  readonly machines?: MachineSpread | undefined;
}

export type ComposableModel = Pick<PreparedModel, 'recipe'> & Partial<PreparedModel>;

export function composeAll(
  models: readonly ComposableModel[],
  results: KnownResults,
  system: System,
  settings: ComposeSettings,
): EstimateResult {
  const { cut, protocol, precision, predictor, costs, checks, machines } = settings;
  const { measureEndToEnd = false, interrupted = false, measured = 0 } = settings;
  const observations = groupObservations(results.measurements());
  const inContext = models.map((model) => ({ ...model, context: computeContext(model.recipe, system) }));
  const ofMachines = machines && { relative: machines.relative, degreesOfFreedom: machines.machines - 1 };
  const wholes = measureEndToEnd ? listWholeLatencies(models, results, settings) : new Map();
  const spreads = spreadsOfSystem(inContext, observations, { wholes, earlier: settings.earlier, machines: ofMachines });
  const crossChecked = measureEndToEnd ? crossCheck(inContext, observations, wholes) : [];
  const findWhole = ({ whole: benchmark, refusal }: ComposableModel): EndToEnd | undefined => {
    if (!measureEndToEnd || benchmark === undefined || refusal !== undefined) return undefined;
    const on = (occasion: number): Measurement | undefined => results.get({ benchmark, occasion, ...settings });
    return { signature: benchmark.signature, first: on(FIRST_OCCASION), repeat: on(SECOND_OCCASION) };
  };
  const needs = models.flatMap(({ recipe }) => modelNeeds(recipe, system, protocol));
  const keys = new Set(needs.map(({ signature, context }) => subjectKey(signature, context)));
  return {
    system,
    models: inContext.map((model, index): ModelResult => {
      const { recipe, context } = model;
      const check = checks?.[index];
      const ofModel = spreadsFor(spreads, model.whole?.signature);
      const estimate = withRefusal(compose(model, observations, ofModel, predictor), model);
      return {
        estimate,
        crossChecked: crossChecked[index],
        endToEnd: findWhole(model),
        check: check && compareKernels({ recipe, context }, observations, check, ofModel),
        limitedBy: interrupted || precision === undefined ? undefined : findLimit(estimate, precision),
        kernels: cut === 'kernel' ? countKernels(recipe) : undefined,
        kernelCheck: model.kernelCheck,
        runWith: model.runWith,
        inputs: model.inputs,
        graph: model.graph,
        extension: model.extension,
      };
    }),
    bricks: [...keys].flatMap((key) => observations.get(key) ?? []),
    spreads,
    machines,
    sequences: models.reduce((sum, { recipe }) => sum + recipe.sequences.length, 0),
    uniqueBricks: new Set(models.flatMap(({ recipe }) => recipe.bricks.map(({ signature }) => signature))).size,
    measured,
    interrupted,
    costs,
  };
}

const MIN_CROSS_CHECKED = 4;

/**
 * By the spreads of the other half of the models: of bricks that its own half does not have, and of their whole models,
 * without earlier runs. So nothing is fitted to the models that are judged.
 */
function crossCheck(
  inContext: readonly (RecipeInContext & ComposableModel)[],
  observations: Observations,
  wholes: Wholes,
): readonly (readonly Margin[])[] {
  if (inContext.length < MIN_CROSS_CHECKED) return [];
  const chooseHalf = <T>(all: readonly T[], half: number): readonly T[] => all.filter((_, index) => index % 2 === half);
  const spreads = [0, 1].map((half) => {
    const own = chooseHalf(inContext, half).flatMap(({ recipe, context }) => {
      return recipe.bricks.map((brick) => brickKey(brick, context));
    });
    const ownKeys = new Set(own);
    const others = new Map([...observations].filter(([key]) => !ownKeys.has(key)));
    const signatures = chooseHalf(inContext, 1 - half).flatMap(({ whole }) => whole?.signature ?? []);
    const known = new Map(signatures.map((signature) => [signature, wholes.get(signature) ?? []]));
    return spreadsFor(spreadsOfSystem(chooseHalf(inContext, 1 - half), others, { wholes: known }));
  });
  return inContext.map((model, index) => compose(model, observations, spreads[index % 2]).margins);
}

export function listWholeLatencies(
  models: readonly ComposableModel[],
  results: KnownResults,
  settings: MeasureSettings,
): Wholes {
  const latencies = models.flatMap(({ whole: benchmark }) => {
    if (benchmark === undefined) return [];
    const values = [FIRST_OCCASION, SECOND_OCCASION].flatMap((occasion) => {
      const outcome = results.get({ benchmark, occasion, ...settings })?.outcome;
      return outcome?.kind === 'samples' ? [occasionSummary(outcome).ms] : [];
    });
    return [[benchmark.signature, values] as const];
  });
  return new Map(latencies);
}

function withRefusal(estimate: Estimate, { refusal, whole }: ComposableModel): Estimate {
  if (refusal === undefined) return estimate;
  const signature = whole?.signature ?? '';
  return { ...estimate, missing: [{ signature, operators: ['whole graph'], shapes: [], count: 1, reason: refusal }] };
}
