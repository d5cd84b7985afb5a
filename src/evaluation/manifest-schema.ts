import { z } from 'zod';
import { ownValue } from '../base/own-value.js';
import { MOVED_SETTINGS, movedTo, PLUGIN_KEYS } from '../manifest/evaluation.js';
import { kindJsonSchema } from '../manifest/load.js';
import type { Evaluation } from './evaluation.js';

type Described = Pick<Evaluation, 'name' | 'settings'>;

export function settingsProperties({ settings }: Described): object {
  const schema = z.toJSONSchema(settings, { io: 'input' });
  const { properties = {} } = schema;
  const moved = PLUGIN_KEYS.flatMap((key) => {
    const property = ownValue(properties, key);
    const old = MOVED_SETTINGS.find((one) => one === key);
    return property === undefined ? [] : [[key, { ...(property as object), ...(old && movedTo(old)) }] as const];
  });
  const ofSettings = Object.fromEntries(Object.entries(schema).filter(([key]) => key !== '$schema'));
  return { ...Object.fromEntries(moved), settings: ofSettings };
}

export function manifestJsonSchema(evaluation: Described): object {
  const { properties, ...whole } = kindJsonSchema('evaluation');
  const ofAll = Object.entries(properties as object).filter(([key]) => key !== 'matrix');
  const { name } = evaluation;
  return {
    ...whole,
    title: `Evaluation manifest for the plugin ${name}`,
    properties: { ...Object.fromEntries(ofAll), plugin: { const: name }, ...settingsProperties(evaluation) },
  };
}
