import type { z } from 'zod';

export interface SchemaProblemOptions {
  /** Name of the whole value in messages. */
  readonly whole?: string;
  /** Path of the checked value in a larger one. */
  readonly around?: readonly PropertyKey[];
}

export function schemaProblem(
  { path, message }: z.core.$ZodIssue,
  { whole = 'it', around = [] }: SchemaProblemOptions = {},
): string {
  return `${[...around, ...path].join('.') || whole}: ${message}`;
}

/** One text for each problem, at most `most`; the last one counts those that are left out. */
export function schemaProblems(
  { issues }: Pick<z.ZodError, 'issues'>,
  { most = 6, ...options }: SchemaProblemOptions & { readonly most?: number } = {},
): readonly string[] {
  const all = issues.map((issue) => schemaProblem(issue, options));
  return all.length <= most ? all : [...all.slice(0, most - 1), `and ${all.length - most + 1} more`];
}
