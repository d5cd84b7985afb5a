import type { z } from 'zod';
import { PlatformError } from '../base/errors.js';
import { schemaProblems } from '../base/schema-problems.js';

/** @param what the message's name @throws PlatformError `usage` with the first few problems */
export function check<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new PlatformError('usage', schemaProblems(parsed.error, { around: [what] }).join('; '));
}
