import type { Limits, RunOptions, Wanted } from '../../../src/plugin-api.js';
import type { Need } from '../bricks/needs.js';

/** Key of a need's measurement on an occasion. */
export function wantedOfNeed(
  { signature, protocol, context, optimizationLevel }: Need,
  occasion: number,
  { runOptions, limits }: { readonly runOptions: RunOptions; readonly limits: Limits },
): Wanted {
  return {
    signature,
    protocol,
    occasion,
    limits,
    runOptions: optimizationLevel === undefined ? runOptions : { ...runOptions, optimizationLevel },
    ...(context === undefined ? {} : { context }),
  };
}
