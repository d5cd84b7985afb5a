import { z } from 'zod';
import { type ManifestDocument, nodeAt } from './document.js';
import { MOVED_SETTINGS } from './evaluation.js';
import { orThrow } from './problem.js';
import { dataOf, validate } from './validate.js';

/**
 * The `settings` of an evaluation's manifest, checked by its plugin's schema. Keys at the old place beside `settings`
 * count where the plugin has a setting of that name and `settings` lacks it.
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
