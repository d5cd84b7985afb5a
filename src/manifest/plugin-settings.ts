import { z } from 'zod';
import { ownValue } from '../base/own-value.js';
import { type ManifestDocument, nodeAt, problemAtKey } from './document.js';
import { PLUGIN_KEYS } from './evaluation.js';
import { orThrow } from './problem.js';
import { toPlainData, validate } from './validate.js';

const isPluginKey = (key: string): boolean => PLUGIN_KEYS.some((one) => one === key);

/** The same schemas as inside `settings`. */
function fieldsBeside(schema: z.ZodType): Readonly<Record<string, z.ZodType>> {
  const shape: Readonly<Record<string, z.core.$ZodType>> = schema instanceof z.ZodObject ? schema.shape : {};
  const fields = PLUGIN_KEYS.flatMap((key) => {
    const field = ownValue(shape, key);
    return field === undefined ? [] : [[key, z.optional(field)] as const];
  });
  return Object.fromEntries(fields);
}

/** @throws PlatformError `manifest` */
function refuseMatrix(document: ManifestDocument): void {
  if (nodeAt(document.root, ['matrix']) === undefined) return;
  const problem = problemAtKey(document, ['matrix'], 'no matrix, which this plugin does not have', 'one');
  orThrow({ ok: false, problems: [problem] });
}

/** An object of JSON Schema. */
const describedSchema = z.object({
  properties: z.record(z.string(), z.unknown()).catch({}),
  additionalProperties: z.unknown().optional(),
});

/**
 * By the JSON Schema of the plugin's manifests. The plugin checks what JSON Schema cannot say, and all of it where the
 * schema cannot be read.
 *
 * @throws PlatformError `manifest` with every problem and its place
 */
export function checkDescribedSettings(document: ManifestDocument, manifestSchemaJson: string): void {
  const { properties, additionalProperties } = describedSchema.parse(JSON.parse(manifestSchemaJson));
  if (additionalProperties === false && !Object.hasOwn(properties, 'matrix')) refuseMatrix(document);
  const described = Object.entries(properties).filter(([key]) => key === 'settings' || isPluginKey(key));
  let schema: z.ZodType;
  try {
    schema = z.fromJSONSchema({
      type: 'object',
      properties: Object.fromEntries(described),
    } as z.core.JSONSchema.Schema);
  } catch {
    return;
  }
  orThrow(validate(document, schema));
}

/**
 * Keys at the old place beside `settings` count where the plugin has a setting of that name and `settings` lacks it.
 *
 * @throws PlatformError `manifest` with every problem and its place
 */
export function pluginSettings<Settings>(document: ManifestDocument, schema: z.ZodType<Settings>): Settings {
  const moved = fieldsBeside(schema);
  if (moved['matrix'] === undefined) refuseMatrix(document);
  orThrow(validate(document, z.looseObject({ settings: z.prefault(schema, {}), ...moved })));
  const valueAt = (key: string): unknown => {
    const node = nodeAt(document.root, [key]);
    return node === undefined ? undefined : toPlainData(node);
  };
  const found = Object.keys(moved).filter((key) => valueAt(key) !== undefined);
  const settings = {
    ...Object.fromEntries(found.map((key) => [key, valueAt(key)])),
    ...(valueAt('settings') as object),
  };
  return schema.parse(settings);
}
