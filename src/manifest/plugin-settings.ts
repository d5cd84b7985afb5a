import { z } from 'zod';
import { type ManifestDocument, nodeAt } from './document.js';
import { MOVED_SETTINGS } from './evaluation.js';
import { orThrow } from './problem.js';
import { dataOf, validate } from './validate.js';

/**
 * What an evaluation's manifest has under `settings`, as its plugin understands it. Keys that stood beside `settings` once count
 * where the plugin has a setting of that name and `settings` does not say otherwise.
 *
 * @throws PlatformError `manifest` with every problem and its place
 */
export function pluginSettings<Settings>(document: ManifestDocument, schema: z.ZodType<Settings>): Settings {
  orThrow(validate(document, z.looseObject({ settings: z.prefault(schema, {}) }), 'value'));
  const known = Object.keys(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }).properties ?? {});
  const valueAt = (key: string): unknown => {
    const node = nodeAt(document.root, [key]);
    return node === undefined ? undefined : dataOf(node, 'value');
  };
  const moved = MOVED_SETTINGS.filter((key) => known.includes(key) && valueAt(key) !== undefined);
  const settings = {
    ...Object.fromEntries(moved.map((key) => [key, valueAt(key)])),
    ...(valueAt('settings') as object),
  };
  return schema.parse(settings);
}
