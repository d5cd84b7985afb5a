import type { Context } from 'hono';
import { PlatformError } from '../../base/errors.js';
import { quoted } from '../../base/quoted.js';

/** A filter with a misspelt key would show everything. @throws PlatformError `usage` for a key that is not known */
export function requireKnownKeys(c: Context, known: readonly string[]): void {
  const unknown = Object.keys(c.req.queries()).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  const expected = known.length === 0 ? 'none is known here' : `expected ${known.join(', ')}`;
  throw new PlatformError('usage', `unknown key ${quoted(unknown)} in the query; ${expected}`);
}
