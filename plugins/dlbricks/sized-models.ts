import {
  checkDimensions,
  combine,
  isFirstOf,
  type LoadedModel,
  type UnusableModel,
  unusableModel,
  withSizes,
} from '../../src/plugin-api.js';

export interface SizeAxes {
  readonly batch?: readonly number[] | undefined;
  readonly dimension?: ReadonlyMap<string, readonly number[]> | undefined;
  /** Those of `dimension` that were given on the command line; the others are a manifest's. */
  readonly asked?: ReadonlyMap<string, unknown> | undefined;
}

export interface SizedModels {
  readonly batch: number;
  readonly models: readonly LoadedModel[];
  readonly unusable: readonly UnusableModel[];
}

/**
 * The models once for each combination of the sizes. A model without a dimension is in one of the combinations that
 * differ in nothing else. A combination without models is left out.
 *
 * @throws PlatformError `usage` for a dimension that no model has
 */
export function sizedModels(
  loaded: SizedModels,
  { batch: batches = [loaded.batch], dimension, asked }: SizeAxes,
): readonly SizedModels[] {
  // The dimensions of a model that could not be read are not known.
  if (loaded.unusable.length === 0) {
    checkDimensions(loaded.models, dimension, (name) =>
      asked?.has(name) === true ? `--dimension ${name}` : `matrix.dimensions.${name}`,
    );
  }
  const combinations = combine<number>(dimension);
  const sized = batches.flatMap((batch) =>
    combinations.map((dimensions, index): SizedModels => {
      const models: LoadedModel[] = [];
      const unusable: UnusableModel[] = index === 0 ? [...loaded.unusable] : [];
      for (const model of loaded.models) {
        if (!isFirstOf(combinations, index, model.symbols)) continue;
        try {
          models.push(withSizes(model, loaded.batch, { batch, dimensions }));
        } catch (error) {
          unusable.push(unusableModel(model.name, error));
        }
      }
      return { batch, models, unusable };
    }),
  );
  return sized.filter(({ models, unusable }) => models.length + unusable.length > 0);
}
