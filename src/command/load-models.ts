import type { BenchmarkAgent } from '../agent/benchmark-agent.js';
import type { CommandHost } from '../evaluation/plugin.js';
import { checkInputNames } from '../onnx/values/given-values.js';
import { checkDimensions } from '../registry/check-dimensions.js';
import type { LoadedModel, RunningFramework, SizedModel } from '../registry/load-model.js';
import { type UnusableModel, unusableModel } from '../registry/unusable-model.js';
import { combine, isFirstOf } from '../base/combinations.js';
import { COMMAND_DEFAULTS, type InputOptions, type OutputOptions, type SweepInputOptions } from './options.js';

type Sizes = ReadonlyMap<string, number>;

export interface ModelsToLoad {
  /** Model manifests, ONNX files, `zoo:NAME`. One that is named again is the same model. */
  readonly references: readonly string[];
  readonly batches: readonly number[];
  /** Each model is also loaded once for each combination of its dimensions' sizes. */
  readonly inputs: InputOptions | SweepInputOptions;
  readonly quiet: boolean;
  /** Whether it is allowed that no model can be used; by default, that is an error. */
  readonly canBeNone?: boolean;
  readonly runsOn?: RunningFramework | undefined;
  /**
   * Called with each model that cannot be used, if others can. Without it, the first such model is an error. The index
   * is that among the different references.
   */
  readonly onUnusable?: (
    model: UnusableModel,
    where: { readonly index: number; readonly batch: number; readonly sizes: Sizes },
  ) => void;
}

interface OneBatchOptions extends InputOptions, Pick<OutputOptions, 'quiet'> {
  readonly batch?: number;
  readonly runsOn?: RunningFramework;
}

/** Models that were loaded for one size of the batch and of each dimension, in the order of their references. */
export interface LoadedBatch {
  readonly batch: number;
  /** The same object for the unusable models of this batch. */
  readonly sizes: Sizes;
  readonly models: readonly LoadedModel[];
}

export function runsOn(
  { description: { framework, frameworkVersion } }: Pick<BenchmarkAgent, 'description'>,
  { allowVersion = false }: Partial<Pick<RunningFramework, 'allowVersion'>>,
): RunningFramework {
  return { framework, frameworkVersion, allowVersion };
}

/** Shows a progress bar. @throws PlatformError where no model can be used */
export async function loadBatches(
  { references, batches, inputs, quiet, canBeNone = false, runsOn, onUnusable }: ModelsToLoad,
  host: CommandHost,
): Promise<readonly LoadedBatch[]> {
  const progress = host.progress(quiet);
  const combinations = combine<number>(inputs.dimension);
  const runs = batches.flatMap((batch) => combinations.map((sizes) => ({ batch, sizes })));
  const distinct = [...new Set(references)];
  const wanted = runs.flatMap((run) => distinct.map((reference, index) => ({ run, reference, index })));
  const loaded: { readonly run: (typeof runs)[number]; readonly reference: string; readonly model: LoadedModel }[] = [];
  const opened = new Map<string, Promise<SizedModel>>();
  try {
    for (const [done, { run, reference, index }] of wanted.entries()) {
      const { batch, sizes } = run;
      progress.step('loading', done, wanted.length, reference);
      try {
        const reading = opened.get(reference) ?? host.readModel(reference, { runsOn, signal: host.signal });
        opened.set(reference, reading);
        const model = await (await reading)({ batch, dimensions: sizes, inputs: inputs.input });
        // A model without a dimension of several sizes is the same for all of them.
        if (isFirstOf(combinations, combinations.indexOf(sizes), model.symbols))
          loaded.push({ run, reference, model: { ...model, reference } });
      } catch (error) {
        const isLastHope = !canBeNone && loaded.length === 0 && done === wanted.length - 1;
        if (onUnusable === undefined || isLastHope) throw error;
        onUnusable(unusableModel(reference, error), { index, batch, sizes });
      }
    }
  } finally {
    progress.stop();
  }
  const notes = new Set(loaded.flatMap(({ model }) => model.notes));
  for (const note of notes) progress.note(`note: ${note}`);
  return runs.map((run) => ({ ...run, models: withUniqueNames(loaded.filter((each) => each.run === run)) }));
}

/** For one size of the batch. @throws PlatformError as {@link loadBatches} and {@link checkInputs} */
export async function loadModels(
  references: readonly string[],
  { batch = COMMAND_DEFAULTS.batch, quiet = false, runsOn, ...inputs }: OneBatchOptions,
  host: CommandHost,
  onUnusable?: (model: UnusableModel, index: number) => void,
): Promise<readonly LoadedModel[]> {
  const unusable = onUnusable && {
    onUnusable: (model: UnusableModel, { index }: { readonly index: number }) => onUnusable(model, index),
  };
  const wanted = { references, batches: [batch], inputs, quiet, runsOn, ...unusable };
  const models = (await loadBatches(wanted, host)).flatMap((loaded) => loaded.models);
  // The dimensions of a model that could not be read are unknown.
  if (models.length === new Set(references).size) checkInputs(models, inputs);
  return models;
}

/** @throws PlatformError `usage` where no model has a dimension or an input with a given name */
export function checkInputs(
  models: readonly LoadedModel[],
  { dimension, input }: InputOptions | SweepInputOptions,
): void {
  checkDimensions(models, dimension);
  checkInputNames(
    models.map(({ model }) => model),
    input,
  );
}

/** Models of the same name are called by their references instead. */
function withUniqueNames(
  loaded: readonly { readonly reference: string; readonly model: LoadedModel }[],
): readonly LoadedModel[] {
  const uses = new Map<string, number>();
  for (const { model } of loaded) uses.set(model.name, (uses.get(model.name) ?? 0) + 1);
  return loaded.map(({ model, reference }) => {
    return (uses.get(model.name) ?? 0) > 1 ? { ...model, name: reference } : model;
  });
}
