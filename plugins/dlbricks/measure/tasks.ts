import {
  type Benchmark,
  distinctTasks,
  inputBytes,
  type Limits,
  type Protocol,
  protocolOfComposite,
  type RunOptions,
  sumOf,
  type System,
  type Task,
  knownResults,
  type KnownResults,
  type ResultStore,
  type Wanted,
} from '../../../src/plugin-api.js';
import { operatorsLabel } from '../bricks/brick.js';
import type { MeasurableBrick } from '../bricks/brick-copies.js';
import { brickNeeds, callNeed, computeContext, outputCopyNeed, type Need, runOptionsOfNeed } from '../bricks/needs.js';
import type { PreparedModel } from '../bricks/prepare-model.js';
import type { BrickRecipe } from '../bricks/recipe.js';

export interface MeasureSettings {
  readonly runOptions: RunOptions;
  readonly protocol: Protocol;
  readonly limits: Limits;
}

/** The second one is at another time in another process, which shows the machine's repeatability. */
export const FIRST_OCCASION = 1;
export const SECOND_OCCASION = 2;

export const MAX_OCCASIONS = 5;

export const OCCASIONS: readonly number[] = Array.from({ length: MAX_OCCASIONS }, (_, index) => FIRST_OCCASION + index);

/** Cost of a process, a session and a graph, for each brick that shares them. */
const TOGETHER_MS = 5;

/** Cost of a process, a session and a graph for one benchmark alone. */
const ALONE_MS = 300;

/** Weights are filled, written, and read by the runtime. */
const WEIGHT_BYTES_PER_MS = 5e5;

/**
 * How long a measurement takes in proportion to others, for the estimate of the remaining time. It enters no latency.
 *
 * @param roughMs of a run on the imaginary processor of rough-time.ts
 */
function expectMs(benchmark: Benchmark, roughMs: number, protocol: Protocol, isTogether = false): number {
  const { warmupRuns, runs, minRuns, timeBudgetMs } = isTogether ? protocolOfComposite(protocol) : protocol;
  const expectedRuns = warmupRuns + Math.min(runs, Math.max(minRuns, Math.ceil(timeBudgetMs / roughMs)));
  const weightMs = inputBytes(benchmark.inputs, 'weight') / WEIGHT_BYTES_PER_MS;
  return (isTogether ? TOGETHER_MS : ALONE_MS) + weightMs + expectedRuns * roughMs;
}

function buildTask(
  label: string,
  need: Need,
  benchmark: Benchmark,
  occasion: number,
  { runOptions, protocol: ofModels, limits }: MeasureSettings,
  { roughMs = 0, modelBytes }: Partial<Pick<BrickOfModel, 'roughMs' | 'modelBytes'>> = {},
): Task {
  const { protocol, context } = need;
  const options = runOptionsOfNeed(need, runOptions);
  const request = { benchmark, runOptions: options, protocol, occasion, limits, context, modelBytes, roughMs };
  return { label, request, work: expectMs(benchmark, roughMs, ofModels, context !== undefined) };
}

export interface BrickOfModel {
  readonly brick: MeasurableBrick;
  readonly recipe: BrickRecipe;
  readonly context: Need['context'];
  readonly modelBytes: number | undefined;
  readonly roughMs: number;
}

/** The baseline is measured on the first occasion only, since it varies little. */
export function brickTasks(
  label: string,
  { brick, recipe, context, ...ofModel }: BrickOfModel,
  occasion: number,
  settings: MeasureSettings,
): readonly Task[] {
  const { benchmark, baseline } = brickNeeds(recipe, context, settings.protocol);
  const own = buildTask(label, benchmark, brick.copies?.benchmark ?? brick, occasion, settings, ofModel);
  if (baseline === undefined || brick.copies === undefined || occasion > FIRST_OCCASION) return [own];
  return [buildTask('empty call', baseline, brick.copies.baseline, occasion, settings), own];
}

/** @param toNeed for handing over outputs, {@link outputCopyNeed} */
export function callTask(label: string, call: Benchmark, settings: MeasureSettings, toNeed = callNeed): Task {
  return buildTask(label, toNeed(call.signature, settings.protocol), call, FIRST_OCCASION, settings);
}

export function bricksOfModel(
  { recipe, bricks, roughMs }: Pick<PreparedModel, 'recipe' | 'bricks' | 'roughMs'>,
  system: System,
): readonly BrickOfModel[] {
  const context = computeContext(recipe, system);
  return bricks.flatMap((brick, index): readonly BrickOfModel[] => {
    const ofRecipe = recipe.bricks[index];
    if (ofRecipe === undefined) return [];
    return [{ brick, recipe: ofRecipe, context, modelBytes: recipe.footprint_bytes, roughMs: roughMs[index] ?? 0 }];
  });
}

export function callTasks(
  { recipe, call, outputCopy }: Pick<PreparedModel, 'recipe' | 'call' | 'outputCopy'>,
  settings: MeasureSettings,
): readonly Task[] {
  const handing = outputCopy === undefined ? [] : [outputCopy.returned, outputCopy.kept];
  return [
    ...(call === undefined ? [] : [callTask('empty call', call, settings)]),
    ...handing.map((benchmark) =>
      callTask(`${recipe.name}: handing over outputs`, benchmark, settings, outputCopyNeed),
    ),
  ];
}

export function firstTasks(
  models: readonly PreparedModel[],
  system: System,
  settings: MeasureSettings,
): readonly Task[] {
  const calls = models.flatMap((model) => callTasks(model, settings));
  const bricks = models.flatMap((model) =>
    bricksOfModel(model, system).flatMap((brick) => {
      const label = `${model.recipe.name}: ${operatorsLabel(brick.brick.operators)}`;
      return brickTasks(label, brick, FIRST_OCCASION, settings);
    }),
  );
  // Adjacent bricks are measured together, also where they are of different models.
  return distinctTasks([...calls, ...bricks]);
}

export function wholeModelTasks(
  models: readonly PreparedModel[],
  occasion: number,
  { runOptions, protocol, limits }: MeasureSettings,
): readonly Task[] {
  const which = occasion === FIRST_OCCASION ? 'whole' : 'whole, again';
  return distinctTasks(
    models.map(({ recipe, whole, roughMs }) => {
      const { name } = recipe;
      const oneRunMs = sumOf(recipe.sequences.map((brick) => roughMs[brick] ?? 0));
      const request = { benchmark: whole, name, runOptions, protocol, occasion, limits };
      return { label: `${name} (${which})`, request, work: expectMs(whole, oneRunMs, protocol) };
    }),
  );
}

export function wantedOfNeed(
  need: Need,
  occasion: number,
  { runOptions, limits }: Pick<MeasureSettings, 'runOptions' | 'limits'>,
): Wanted {
  const { signature, protocol, context } = need;
  const wanted = { signature, protocol, occasion, limits, runOptions: runOptionsOfNeed(need, runOptions) };
  return context === undefined ? wanted : { ...wanted, context };
}

/** What the store has on some occasions. */
export function findKnown(
  needs: readonly Need[],
  occasions: readonly number[],
  system: System,
  settings: MeasureSettings,
  store: ResultStore,
): Promise<KnownResults> {
  const wanted = occasions.flatMap((occasion) => needs.map((need) => wantedOfNeed(need, occasion, settings)));
  return knownResults(wanted, system, store);
}
