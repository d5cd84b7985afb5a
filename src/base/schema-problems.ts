import type { z } from 'zod';

export interface SchemaProblemOptions {
  /** Name of the checked value in messages, for a problem with all of it. */
  readonly whole?: string;
  /** Path of the checked value in a larger one. */
  readonly around?: readonly PropertyKey[];
}

/** One problem: where it is, and what the schema says about it. */
export function schemaProblem(
  { path, message }: z.core.$ZodIssue,
  { whole = 'it', around = [] }: SchemaProblemOptions = {},
): string {
  return `${[...around, ...path].join('.') || whole}: ${message}`;
}

/**
 * A schema's problems with a value: one text each, at most `most` texts; the last one counts the problems that are left
 * out.
 */
export function schemaProblems(
  { issues }: Pick<z.ZodError, 'issues'>,
  { most = 6, ...options }: SchemaProblemOptions & { readonly most?: number } = {},
): readonly string[] {
  const all = issues.map((issue) => schemaProblem(issue, options));
  return all.length <= most ? all : [...all.slice(0, most - 1), `and ${all.length - most + 1} more`];
}
