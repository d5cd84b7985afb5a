import type { Evaluation } from '../../src/evaluation/evaluation.js';
import { settingsProperties } from '../../src/evaluation/manifest-schema.js';
import { kindJsonSchema } from '../../src/manifest/load.js';

/** Of evaluation manifests for any of these plugins. */
export function evaluationsJsonSchema(evaluations: readonly Pick<Evaluation, 'name' | 'settings'>[]): object {
  const whole = kindJsonSchema('evaluation');
  const { plugin } = whole['properties'] as { readonly plugin: { readonly default: string } };
  const allOf = evaluations.map((evaluation) => {
    const names = { properties: { plugin: { const: evaluation.name } } };
    const isDefault = evaluation.name === plugin.default;
    return {
      if: isDefault ? names : { ...names, required: ['plugin'] },
      then: { properties: settingsProperties(evaluation) },
    };
  });
  return { ...whole, allOf };
}
