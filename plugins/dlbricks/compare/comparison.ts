export interface Ratio {
  readonly ratio: number;
  readonly low: number | null;
  readonly high: number | null;
}

export type Verdict = 'faster' | 'slower' | 'no difference seen';

export interface Aspect {
  readonly aspect: string;
  readonly before: string;
  readonly after: string;
}

export interface ComparedModel {
  readonly name: string;
  readonly batch: number;
  readonly threads: readonly [before: number, after: number];
  /** Estimates; null where they are not known. */
  readonly beforeMs: number | null;
  readonly afterMs: number | null;
  readonly ratio: Ratio | undefined;
  readonly measuredRatio: Ratio | undefined;
  readonly reason: string | undefined;
}

export interface ComparedBrick {
  readonly signature: string;
  readonly operators: readonly string[];
  /** Where the sides have different kernels between the same values: the operators of the second side. */
  readonly afterOperators?: readonly string[] | undefined;
  readonly beforeMs: number;
  readonly afterMs: number;
  readonly ratio: Ratio;
  readonly verdict: Verdict | undefined;
  /** What each model gains (below 0) or loses by all of its sequences; ms. */
  readonly models: readonly { readonly name: string; readonly sequences: number; readonly differenceMs: number }[];
  readonly differenceMs: number;
}

export interface Comparison {
  readonly aspects: readonly Aspect[];
  readonly models: readonly ComparedModel[];
  readonly overall: Ratio | undefined;
  /** The largest differences first. */
  readonly bricks: readonly ComparedBrick[];
  /** Shares of the estimates' time in bricks that the other side does not have; undefined where nothing is known. */
  readonly unmatched: { readonly before: number | undefined; readonly after: number | undefined };
  /** Why a side has no bricks of models, and the remedy; undefined where it has all. */
  readonly withoutBricks?: { readonly before: string | undefined; readonly after: string | undefined };
  /** Rounds in which both sides were measured; undefined where each side was measured on its own. */
  readonly rounds?: number | undefined;
  readonly unpaired: { readonly before: readonly string[]; readonly after: readonly string[] };
}

/** Times of kernels are whole microseconds: a smaller difference of a brick is none. */
export const RESOLUTION_MS = 1e-3;

/** undefined where the interval is not known. */
export function judgeRatio({ low, high }: Ratio): Verdict | undefined {
  if (low !== null && low > 1) return 'slower';
  if (high !== null && high < 1) return 'faster';
  return low === null || high === null ? undefined : 'no difference seen';
}

/** The smallest difference that would have been seen, relative to the time before; undefined where it is not known. */
export function seenFrom({ ratio, low, high }: Ratio): number | undefined {
  return low === null || high === null ? undefined : Math.max(high / ratio - 1, 1 - low / ratio);
}
