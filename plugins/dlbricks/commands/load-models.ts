import {
  checkDimensions,
  checkInputNames,
  type CommandHost,
  type LoadedModel,
  type UnusableModel,
  unusableModel,
} from '../../../src/plugin-api.js';
import { DEFAULTS, type MeasuringOptions } from './options.js';

/**
 * Loads the models that a command line names, with a bar.
 *
 * @param onUnusable gets the models that cannot be used and their place in the list, as long as others can; without it,
 *   the first one is an error
 */
export async function loadModels(
  references: readonly string[],
  options: MeasuringOptions & { readonly quiet?: boolean },
  host: CommandHost,
  onUnusable?: (model: UnusableModel, index: number) => void,
): Promise<readonly LoadedModel[]> {
  const progress = host.progress(options.quiet ?? false);
  const models: LoadedModel[] = [];
  const used: string[] = [];
  try {
    for (const [done, reference] of references.entries()) {
      progress.step('loading', done, references.length, reference);
      try {
        models.push(
          await host.loadModel(reference, {
            batch: options.batch ?? DEFAULTS.batch,
            dimensions: options.dimension ?? new Map(),
            inputs: options.input,
            signal: host.signal,
          }),
        );
        used.push(reference);
      } catch (error) {
        const isOnlyOne = models.length === 0 && done === references.length - 1;
        if (onUnusable === undefined || isOnlyOne) throw error;
        onUnusable(unusableModel(reference, error), done);
      }
    }
  } finally {
    progress.stop();
  }
  for (const note of models.flatMap(({ notes }) => notes)) progress.note(`note: ${note}`);
  // Dimensions of a model that was not read are not known.
  if (models.length === references.length) {
    checkDimensions(models, options.dimension);
    checkInputNames(
      models.map(({ model }) => model),
      options.input,
    );
  }
  return withUniqueNames(models, used);
}

/** Models of the same name are called by their references instead. */
function withUniqueNames(models: readonly LoadedModel[], references: readonly string[]): readonly LoadedModel[] {
  const uses = new Map<string, number>();
  for (const { name } of models) uses.set(name, (uses.get(name) ?? 0) + 1);
  return models.map((model, index) => {
    const reference = references[index];
    return (uses.get(model.name) ?? 0) > 1 && reference !== undefined ? { ...model, name: reference } : model;
  });
}
