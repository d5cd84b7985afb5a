import type { BenchmarkAgent } from '../agent/benchmark-agent.js';
import type { CommandHost } from '../evaluation/plugin.js';
import { checkInputNames } from '../onnx/values/given-values.js';
import { checkDimensions } from '../registry/check-dimensions.js';
import type { LoadedModel, RunningFramework, SizedModel } from '../registry/load-model.js';
import { type UnusableModel, unusableModel } from '../registry/unusable-model.js';
import { combine, isFirstOf } from '../base/combinations.js';
import { groupedBy } from '../base/grouped-by.js';
import { COMMAND_DEFAULTS, type InputOptions, type OutputOptions, type SweepInputOptions } from './options.js';

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
  readonly onUnusable?: ((model: UnusableModel, index: number) => void) | undefined;
}

type Referred = LoadedModel & { readonly reference: string };

interface OneBatchOptions extends InputOptions, Pick<OutputOptions, 'quiet'> {
  readonly batch?: number;
  readonly runsOn?: RunningFramework;
}

export function runsOn(
  { description: { framework, frameworkVersion } }: Pick<BenchmarkAgent, 'description'>,
  { allowVersion = false }: Partial<Pick<RunningFramework, 'allowVersion'>>,
): RunningFramework {
  return { framework, frameworkVersion, allowVersion };
}

/**
 * Shows a progress bar.
 *
 * @returns for each size of the batch and of each dimension, the models in the order of their references
 * @throws PlatformError where no model can be used
 */
export async function loadBatches(
  { references, batches, inputs, quiet, canBeNone = false, runsOn, onUnusable }: ModelsToLoad,
  host: CommandHost,
) {
  const progress = host.progress(quiet);
  const combinations = combine<number>(inputs.dimension);
  const runs = batches.flatMap((batch) =>
    combinations.map((sizes) => ({ batch, sizes, loaded: [] as Referred[], unusable: [] as UnusableModel[] })),
  );
  const distinct = [...new Set(references)];
  const wanted = runs.flatMap((run) => distinct.map((reference, index) => ({ ...run, reference, index })));
  const opened = new Map<string, Promise<SizedModel>>();
  try {
    for (const [done, { batch, sizes, loaded, unusable, reference, index }] of wanted.entries()) {
      progress.step('loading', done, wanted.length, reference);
      try {
        const reading = opened.get(reference) ?? host.readModel(reference, { runsOn, signal: host.signal });
        opened.set(reference, reading);
        const model = await (await reading)({ batch, dimensions: sizes, inputs: inputs.input });
        // A model without a dimension of several sizes is the same for all of them.
        if (isFirstOf(combinations, combinations.indexOf(sizes), model.symbols)) loaded.push({ ...model, reference });
      } catch (error) {
        const isLastHope = !canBeNone && done === wanted.length - 1 && runs.every((run) => run.loaded.length === 0);
        if (onUnusable === undefined || isLastHope) throw error;
        const one = unusableModel(reference, error);
        unusable.push(one);
        onUnusable(one, index);
      }
    }
  } finally {
    progress.stop();
  }
  const notes = new Set(runs.flatMap(({ loaded }) => loaded.flatMap((model) => model.notes)));
  for (const note of notes) progress.note(`note: ${note}`);
  return runs.map(({ batch, loaded, unusable }) => ({ batch, models: withUniqueNames(loaded), unusable }));
}

/** For one size of the batch. @throws PlatformError as {@link loadBatches} and {@link checkInputs} */
export async function loadModels(
  references: readonly string[],
  { batch = COMMAND_DEFAULTS.batch, quiet = false, runsOn, ...inputs }: OneBatchOptions,
  host: CommandHost,
  onUnusable?: ModelsToLoad['onUnusable'],
): Promise<readonly LoadedModel[]> {
  const wanted = { references, batches: [batch], inputs, quiet, runsOn, onUnusable };
  const loaded = await loadBatches(wanted, host);
  const models = loaded.flatMap((batch) => batch.models);
  // The dimensions of a model that could not be read are unknown.
  if (loaded.every(({ unusable }) => unusable.length === 0)) checkInputs(models, inputs);
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
function withUniqueNames(loaded: readonly Referred[]): readonly LoadedModel[] {
  const models = groupedBy(loaded, ({ name }) => name);
  return loaded.map((model) =>
    models.get(model.name)?.[1] === undefined ? model : { ...model, name: model.reference },
  );
}
