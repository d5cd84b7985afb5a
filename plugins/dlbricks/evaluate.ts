import type { LoadedModel, Measurement, Protocol, System } from '../../src/plugin-api.js';
import { type CutSettings, prepareOrRefuse, type PreparedModel } from './bricks/prepare-model.js';
import { kernelsOf, signaturesOf } from './bricks/recipe.js';
import { uniqueBricks } from './bricks/unique-bricks.js';
import { type Observations, spreadBetweenOccasions } from './estimate/brick-latency.js';
import { compose, type Estimate } from './estimate/compose.js';
import { type MeasuringContext, measureAll } from './measure/measure-all.js';
import { limitOf, type Precision, tasksOfNextOccasion } from './measure/next-occasion.js';
import { knownResults, planRepetitions, planTasks, repetitionOf, type Results, type Task } from './measure/plan.js';
import { keepPlatformDocuments } from './measure/platform-documents.js';
import type { EstimateResult } from './report/evaluation-result.js';

/** What to estimate, and how. */
export interface EstimateRequest extends CutSettings {
  readonly models: readonly LoadedModel[];
  readonly protocol: Protocol;
  /** Measure each whole model as well, right before its bricks and once more at the end. */
  readonly measureEndToEnd: boolean;
  /** How well bricks in context have to be measured. */
  readonly precision: Precision;
}

/**
 * The main job: takes models apart, measures each unique brick that the store does not know yet, and composes the
 * models' latencies. One measurement at a time; each is in the store before the next one starts, so that an interrupted
 * evaluation continues where it stopped.
 *
 * @throws PlatformError where a model cannot be used, or the agent or the store fails; a benchmark that fails is a
 *   result, not an error
 */
export async function evaluate(request: EstimateRequest, context: MeasuringContext): Promise<EstimateResult> {
  const { agent, store, onEvent } = context;
  const { protocol, runOptions, measureEndToEnd } = request;

  const models: PreparedModel[] = [];
  for (const [done, model] of request.models.entries()) {
    onEvent({ kind: 'preparing', model: model.name, done, total: request.models.length });
    const prepared = await prepareOrRefuse(model, request, agent, context.signal);
    if (prepared.refusal !== undefined) onEvent({ kind: 'warning', message: `${model.name}: ${prepared.refusal}` });
    models.push(prepared);
  }

  const system = await agent.system(runOptions);
  const first = planTasks(models, protocol, measureEndToEnd);
  const again = measureEndToEnd ? planRepetitions(models, protocol) : [];
  const results = await knownResults([...first, ...again], system, store);
  const isMissing = (task: Task): boolean => results.get(task) === undefined;
  const toMeasure = first.filter(isMissing);
  const toRepeat = again.filter(isMissing);
  const bricks = uniqueBricks(models);
  onEvent({
    kind: 'planned',
    layers: models.reduce((sum, { recipe }) => sum + recipe.layers, 0),
    unique: bricks.length,
    known: first.length + again.length - toMeasure.length - toRepeat.length,
    toMeasure: toMeasure.length + toRepeat.length,
  });

  const total = toMeasure.length + toRepeat.length;
  let measured = await measureAll(toMeasure, results, runOptions, context, { before: 0, total });
  if (request.cut === 'kernel') measured += await repeatBricks(models, results, system, request, context);
  measured += await measureAll(toRepeat, results, runOptions, context, { before: toMeasure.length, total });
  if (measureEndToEnd) await keepPlatformDocuments(request.models, models, results, protocol, store);

  const interrupted = context.signal.aborted || [...first, ...again].some(isMissing);
  const observations = results.observations();
  const spread = spreadBetweenOccasions(
    models.map(({ recipe }) => recipe),
    observations,
  );
  return {
    system,
    models: models.map(({ recipe, refusal, whole: { signature } }) => {
      const estimate = withRefusal(compose(recipe, observations, spread), refusal, signature);
      const whole = { benchmark: { signature }, protocol };
      return {
        estimate,
        endToEnd: measureEndToEnd
          ? {
              signature,
              first: results.get(whole),
              repeat: results.get({ ...whole, protocol: repetitionOf(protocol) }),
            }
          : undefined,
        limitedBy: interrupted ? undefined : limitOf(estimate, request.precision),
        kernels: request.cut === 'kernel' ? kernelsOf(recipe) : undefined,
      };
    }),
    bricks: measurementsOf(models, observations),
    spread,
    sequences: models.reduce((sum, { recipe }) => sum + recipe.sequences.length, 0),
    uniqueBricks: bricks.length,
    measured,
    interrupted,
  };
}

/**
 * Measures bricks on further occasions, as far as the models' intervals need it. @returns how many measurements were taken
 */
async function repeatBricks(
  models: readonly PreparedModel[],
  results: Results,
  system: System,
  { protocol, runOptions, precision }: EstimateRequest,
  context: MeasuringContext,
): Promise<number> {
  let measured = 0;
  let tasks: readonly Task[];
  do {
    tasks = tasksOfNextOccasion(models, results.observations(), protocol, precision);
    results.add(await knownResults(tasks, system, context.store));
    const toMeasure = tasks.filter((task) => results.get(task) === undefined);
    if (toMeasure.length > 0 && !context.signal.aborted)
      context.onEvent({ kind: 'repeating', bricks: toMeasure.length });
    measured += await measureAll(toMeasure, results, runOptions, context);
    // Ends: no brick has more than a few occasions, and one that was not measured after all is not asked for for ever.
  } while (tasks.length > 0 && tasks.every((task) => results.get(task) !== undefined));
  return measured;
}

function withRefusal(estimate: Estimate, refusal: string | undefined, signature: string): Estimate {
  if (refusal === undefined) return estimate;
  return { ...estimate, missing: [{ signature, operators: ['whole graph'], count: 1, reason: refusal }] };
}

/** Everything that was measured for the models' bricks, each occasion once. */
function measurementsOf(models: readonly PreparedModel[], observations: Observations): readonly Measurement[] {
  const signatures = models.flatMap(({ recipe }) => signaturesOf(recipe));
  return [...new Set(signatures)].flatMap((signature) => observations.get(signature) ?? []);
}
