import { z } from 'zod';
import { evaluationJsonSchema } from '../manifest/index.js';
import type { Evaluation } from './evaluation.js';

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
