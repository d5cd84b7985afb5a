import { isSameName } from '../base/platform-name.js';
import type { ModelManifest } from '../generated/carml/org/dlframework/registry.js';
import { parseZooName } from '../manifest/reference.js';

export const MADE_UP = 'are made up, so that its predictions mean nothing';

/** Whether the weights of a model that an agent offers are made up; undefined where the agent does not offer it. */
export function hasMadeUpWeights(offered: readonly ModelManifest[], name: string): boolean | undefined {
  // An agent lists its own models before those of the platform, and opens the first.
  const model = offered.find((one) => isSameName(one.name, name));
  return model && parseZooName(model.model?.graphPath ?? '') !== undefined;
}
