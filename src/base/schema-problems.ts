import type { z } from 'zod';

export interface SchemaProblemOptions {
  /** What messages call the checked value, for a problem with all of it. */
  readonly whole?: string;
  /** Where the checked value is in something larger. */
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
 * What a schema says is wrong with a value: one text for each problem, at most `most` texts; the last one counts the
 * problems that are left out.
 */
export function schemaProblems(
  { issues }: z.ZodError,
  { most = 6, ...options }: SchemaProblemOptions & { readonly most?: number } = {},
): readonly string[] {
  const all = issues.map((issue) => schemaProblem(issue, options));
  return all.length <= most ? all : [...all.slice(0, most - 1), `and ${all.length - most + 1} more`];
}
