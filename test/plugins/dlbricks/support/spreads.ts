import type { RecipeInContext, Observations } from '../../../../plugins/dlbricks/estimate/brick-latency.js';
import type { Spreads } from '../../../../plugins/dlbricks/estimate/interval.js';
import {
  type KnownOfSystem,
  spreadsFor,
  spreadsOfSystem,
} from '../../../../plugins/dlbricks/estimate/spreads-of-system.js';

/** The spreads that measurements show. */
export function spreadsOf(
  recipes: readonly RecipeInContext[],
  observations: Observations,
  known?: KnownOfSystem,
): Spreads | undefined {
  return spreadsFor(spreadsOfSystem(recipes, observations, known));
}

/** A spread that all bricks of a process have in common. */
export function commonSpread(relative: number, degreesOfFreedom: number): Spreads {
  const own = { relative: 0, degreesOfFreedom: 1 };
  return { bricks: { processes: { relative, degreesOfFreedom }, ownShare: 0, own } };
}
