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
