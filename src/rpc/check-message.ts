import type { z } from 'zod';
import { PlatformError } from '../base/errors.js';

/**
 * What a message says, once it was found to be as the schema wants it.
 *
 * @param what the message's name
 * @throws PlatformError `usage` that lists the first few problems, each with where it is
 */
export function check<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues
    .slice(0, 5)
    .map(({ path, message }) => `${[what, ...path].join('.')}: ${message}`);
  throw new PlatformError('usage', problems.join('; '));
}
