import type { z } from 'zod';
import { schemaProblems } from '../base/schema-problems.js';

/** A stored value, or the reason why it is unusable. */
export type Read<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

export function readText<T>(text: string, schema: z.ZodType<T>): Read<T> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { ok: false, problem: 'not JSON' };
  }
  return readJson(json, schema);
}

export function readJson<T>(json: unknown, schema: z.ZodType<T>): Read<T> {
  const result = schema.safeParse(json);
  return result.success
    ? { ok: true, value: result.data }
    : { ok: false, problem: schemaProblems(result.error).join('; ') };
}
