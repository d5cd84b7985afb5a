import { z } from 'zod';
import { kindJsonSchema } from '../manifest/index.js';
import type { Evaluation } from './evaluation.js';

type Described = Pick<Evaluation, 'name' | 'settings'>;

function settingsJsonSchema({ settings }: Described): object {
  const schema = Object.entries(z.toJSONSchema(settings, { io: 'input' }));
  return Object.fromEntries(schema.filter(([key]) => key !== '$schema'));
}

/** JSON Schema (draft 2020-12) of the evaluation manifests that a plugin runs. */
export function manifestJsonSchema(evaluation: Described): object {
  const { properties, ...whole } = kindJsonSchema('evaluation');
  const { name } = evaluation;
  return {
    ...whole,
    title: `Evaluation manifest for the plugin ${name}`,
    properties: { ...(properties as object), plugin: { const: name }, settings: settingsJsonSchema(evaluation) },
  };
}

/** JSON Schema (draft 2020-12) of all evaluation manifests, with the settings of the plugins that are known. */
export function evaluationsJsonSchema(evaluations: readonly Described[]): object {
  const whole = kindJsonSchema('evaluation');
  const { plugin } = whole['properties'] as { readonly plugin: { readonly default: string } };
  const allOf = evaluations.map((evaluation) => {
    const names = { properties: { plugin: { const: evaluation.name } } };
    const isDefault = evaluation.name === plugin.default;
    return {
      if: isDefault ? names : { ...names, required: ['plugin'] },
      then: { properties: { settings: settingsJsonSchema(evaluation) } },
    };
  });
  return { ...whole, allOf };
}
