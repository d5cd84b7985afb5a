import { PlatformError } from '../base/errors.js';
import type { LoadedModel } from './load-model.js';

/** Refuses a dimension that no model has, as a typing error. @param placeOf where a name stands @throws PlatformError `usage` */
export function checkDimensions(
  models: readonly LoadedModel[],
  dimensions: ReadonlyMap<string, unknown> | undefined,
  placeOf = (name: string): string => `--dimension ${name}`,
): void {
  const symbols = new Set(models.flatMap((model) => model.symbols));
  for (const name of dimensions?.keys() ?? []) {
    if (symbols.has(name)) continue;
    const known = symbols.size === 0 ? 'they have none' : `they have ${[...symbols].join(', ')}`;
    throw new PlatformError('usage', `${placeOf(name)}: none of the models has a dimension of this name; ${known}`);
  }
}
