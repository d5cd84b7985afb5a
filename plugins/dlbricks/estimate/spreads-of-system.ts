import { isDisturbed } from '../../../src/plugin-api.js';
import { findOccurrences, type RecipeInContext, type Observations } from './brick-latency.js';
import type { Spreads } from './interval.js';
import { pooledSpread, type Spread } from './statistics.js';
import { areAlike, type Occurrence, type VarianceComponents, varianceComponents } from './variance-components.js';

/** Latencies of whole models on their occasions, by signature; ms. */
export type Wholes = ReadonlyMap<string, readonly number[]>;

export interface Earlier {
  readonly bricks: readonly Occurrence[];
  readonly wholes: Wholes;
}

export interface SystemSpreads {
  /** undefined, with the reason, where it cannot be estimated. */
  readonly bricks: VarianceComponents | undefined;
  readonly reason: string | undefined;
  readonly wholes: Wholes;
  readonly machines: Spread | undefined;
}

export interface KnownOfSystem {
  readonly wholes?: Wholes | undefined;
  readonly earlier?: Earlier | undefined;
  readonly machines?: Spread | undefined;
}

/** Earlier runs count unless the machine's state was significantly different then. */
export function spreadsOfSystem(
  recipes: readonly RecipeInContext[],
  observations: Observations,
  { wholes = new Map(), earlier, machines }: KnownOfSystem = {},
): SystemSpreads {
  const present = findOccurrences(recipes, observations);
  const known = new Set(present.map(({ brick }) => brick));
  const now = varianceComponents(present);
  // Some of these bricks may have further occasions, which an estimate without repeating leaves out.
  const others = (earlier?.bricks ?? []).filter(({ brick }) => now === undefined || !known.has(brick));
  const before = varianceComponents(others);
  const all = new Map([...(earlier?.wholes ?? []), ...wholes]);
  const none = { bricks: undefined, wholes: all, machines };
  if (now === undefined) {
    if (before === undefined) {
      const once = 'bricks were measured once, and the store has no others with several occasions';
      return { ...none, reason: present.length + others.length === 0 ? 'no brick was measured' : once };
    }
    const isBusy = [...observations.values()].flat().some(isDisturbed);
    if (isBusy) return { ...none, reason: 'one occasion of each brick counts, and others disturbed the measurements' };
    return { ...none, bricks: before, reason: undefined };
  }
  if (before !== undefined && !areAlike(now, before)) return { bricks: now, reason: undefined, wholes, machines };
  return { ...none, bricks: varianceComponents([...present, ...others]), reason: undefined };
}

/** @param signature of the whole model; its own measurements are left out: the interval is for an unmeasured model */
export function spreadsFor({ bricks, wholes, machines }: SystemSpreads, signature?: string): Spreads | undefined {
  if (bricks === undefined) return undefined;
  const ofWholes = spreadOfWholes(wholes, signature);
  // A rounding error must not drop a degree.
  const isKnown = ofWholes !== undefined && Math.round(ofWholes.degreesOfFreedom) >= MIN_DEGREES;
  return { bricks, wholes: isKnown ? ofWholes : undefined, machines };
}

/** Fewer degrees of freedom of whole models say less than the bricks: Student's quantile is then above 4. */
const MIN_DEGREES = 3;

export function spreadOfWholes(wholes: Wholes, without?: string): Spread | undefined {
  const others = [...wholes].filter(([signature]) => signature !== without);
  return pooledSpread(others.map(([, values]) => ({ values, weight: 1 })));
}
