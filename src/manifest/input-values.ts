import { z } from 'zod';
import { type GivenText, parseInputValues } from '../onnx/values/given-values.js';
import { listedValues } from '../onnx/model/listed-values.js';
import { type InputValues, MAX_LISTED_VALUES, type Model } from '../onnx/model/model.js';
import type { ModelManifest } from './model.js';

const EXPECTED = 'a number, a list of numbers, true, false, or a range such as 0..127';

/** Never in a file, because servers read no file that a manifest names. */
export const inputValuesField = z
  .union([z.number(), z.boolean(), z.string(), z.array(z.number()).min(1).max(MAX_LISTED_VALUES)], { error: EXPECTED })
  .transform((value, context): InputValues => {
    const values = Array.isArray(value) ? listedValues(value) : parseInputValues(String(value));
    if (values !== undefined) return values;
    context.addIssue({ code: 'custom', message: EXPECTED });
    return z.NEVER;
  });

export function inputValues({ inputs }: ModelManifest, { graph }: Model): ReadonlyMap<string, GivenText> {
  return new Map(
    inputs.flatMap(({ layer_name, values }) => {
      const name = typeof layer_name === 'number' ? graph.inputs[layer_name] : layer_name;
      return name === undefined || values === undefined ? [] : [[name, { kind: 'values', values }] as const];
    }),
  );
}
