import type { Limits, RunOptions, Wanted } from '../../../src/plugin-api.js';
import { type Need, runOptionsOfNeed } from '../bricks/needs.js';

export function wantedOfNeed(
  need: Need,
  occasion: number,
  { runOptions, limits }: { readonly runOptions: RunOptions; readonly limits: Limits },
): Wanted {
  const { signature, protocol, context } = need;
  const wanted = { signature, protocol, occasion, limits, runOptions: runOptionsOfNeed(need, runOptions) };
  return context === undefined ? wanted : { ...wanted, context };
}
