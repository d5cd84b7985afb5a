import { z } from 'zod';
import { parseDocument } from '../manifest/document.js';
import { evaluationJsonSchema, orThrow } from '../manifest/index.js';
import { validate } from '../manifest/validate.js';
import type { Evaluation } from './evaluation.js';
import type { Submission } from './submission.js';

/** JSON Schema (draft 2020-12) of the evaluation manifests that a plugin runs. */
export function manifestJsonSchema({ name, settings }: Pick<Evaluation, 'name' | 'settings'>): object {
  const { properties, ...whole } = evaluationJsonSchema();
  const ofSettings = Object.entries(z.toJSONSchema(settings, { io: 'input' })).filter(([key]) => key !== '$schema');
  return {
    ...whole,
    title: `Evaluation manifest for the plugin ${name}`,
    properties: { ...(properties as object), plugin: { const: name }, settings: Object.fromEntries(ofSettings) },
  };
}

/**
 * What a submitted manifest has under `settings`, as the plugin understands it.
 *
 * @throws PlatformError `manifest` with every problem and its place
 */
export function settingsOf<Settings>(
  { settings }: Pick<Evaluation<Settings>, 'settings'>,
  { manifestPath, files }: Submission,
): Settings {
  const document = orThrow(parseDocument(manifestPath, files.get(manifestPath) ?? new Uint8Array()));
  const schema = z.looseObject({ settings: z.prefault(settings, {}) });
  return orThrow(validate(document, schema, 'value')).data.settings;
}
