import { z } from 'zod';

export const LEVELS = ['refuse', 'warn', 'info'] as const;

export const findingSchema = z.strictObject({
  id: z.string(),
  level: z.enum(LEVELS),
  found: z.string(),
  why: z.string().describe('Why it matters'),
  remedy: z.string(),
});

export type Finding = z.infer<typeof findingSchema>;

/** The worst first; otherwise in their order. */
export function sorted(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level));
}

/** A kind of finding. `find` says what was found in a subject; undefined: nothing. */
export interface Check<Subject> extends Omit<Finding, 'found' | 'remedy'> {
  readonly find: (subject: Subject) => string | undefined;
  readonly remedy: string | ((subject: Subject) => string);
}

export function runChecks<Subject>(checks: readonly Check<Subject>[], subject: Subject): Finding[] {
  return checks.flatMap(({ id, level, find, why, remedy }): Finding | [] => {
    const found = find(subject);
    if (found === undefined) return [];
    return { id, level, found, why, remedy: typeof remedy === 'string' ? remedy : remedy(subject) };
  });
}
