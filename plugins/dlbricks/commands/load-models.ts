import { checkDimensions, type CommandHost, type LoadedModel } from '../../../src/plugin-api.js';
import { DEFAULTS, type MeasuringOptions } from './options.js';

/** Loads the models that a command line names. A progress bar shows the building of zoo models. */
export async function loadModels(
  references: readonly string[],
  options: MeasuringOptions & { readonly quiet?: boolean },
  host: CommandHost,
): Promise<readonly LoadedModel[]> {
  const progress = host.progress(options.quiet ?? false);
  const models: LoadedModel[] = [];
  try {
    for (const [done, reference] of references.entries()) {
      progress.step('loading', done, references.length, reference);
      models.push(
        await host.loadModel(reference, {
          batch: options.batch ?? DEFAULTS.batch,
          dimensions: options.dimension ?? new Map(),
          signal: host.signal,
        }),
      );
    }
  } finally {
    progress.stop();
  }
  for (const note of models.flatMap(({ notes }) => notes)) progress.note(`note: ${note}`);
  checkDimensions(models, options.dimension);
  return withUniqueNames(models, references);
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
