import { PlatformError } from '../base/errors.js';
import type { LoadedModel } from './load-model.js';

/** Refuses a dimension that no model has, as a typing error. @param place before its name @throws PlatformError `usage` */
export function checkDimensions(
  models: readonly LoadedModel[],
  dimensions: ReadonlyMap<string, unknown> | undefined,
  place = '--dimension ',
): void {
  const symbols = new Set(models.flatMap((model) => model.symbols));
  for (const name of dimensions?.keys() ?? []) {
    if (symbols.has(name)) continue;
    const known = symbols.size === 0 ? 'they have none' : `they have ${[...symbols].join(', ')}`;
    throw new PlatformError('usage', `${place}${name}: none of the models has a dimension of this name; ${known}`);
  }
}
