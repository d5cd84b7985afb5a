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
  readonly beforeMs: number | null;
  readonly afterMs: number | null;
  readonly ratio: Ratio | undefined;
  readonly measuredRatio: Ratio | undefined;
  readonly reason: string | undefined;
}

export interface ComparedBrick {
  readonly signature: string;
  readonly operators: readonly string[];
  /** Those of the second side, where it has different kernels between the same values. */
  readonly afterOperators?: readonly string[] | undefined;
  readonly beforeMs: number;
  readonly afterMs: number;
  readonly ratio: Ratio;
  readonly verdict: Verdict | undefined;
  /** By all sequences of each model; ms. */
  readonly models: readonly { readonly name: string; readonly sequences: number; readonly differenceMs: number }[];
  readonly differenceMs: number;
}

export interface Comparison {
  readonly aspects: readonly Aspect[];
  readonly models: readonly ComparedModel[];
  readonly overall: Ratio | undefined;
  /** The largest differences first. */
  readonly bricks: readonly ComparedBrick[];
  /** Of the time, in bricks that the other side lacks; undefined where nothing is known. */
  readonly unmatched: { readonly before: number | undefined; readonly after: number | undefined };
  /** undefined where a side has all. */
  readonly withoutBricks?: { readonly before: string | undefined; readonly after: string | undefined };
  /** undefined where each side was measured on its own. */
  readonly rounds?: number | undefined;
  readonly unpaired: { readonly before: readonly string[]; readonly after: readonly string[] };
}

/** Times of kernels are whole microseconds. */
export const RESOLUTION_MS = 1e-3;

/** undefined where the interval is not known. */
export function judgeRatio({ low, high }: Ratio): Verdict | undefined {
  if (low !== null && low > 1) return 'slower';
  if (high !== null && high < 1) return 'faster';
  return low === null || high === null ? undefined : 'no difference seen';
}

/** The smallest difference that would have been seen, relative to the time before. */
export function seenFrom({ ratio, low, high }: Ratio): number | undefined {
  return low === null || high === null ? undefined : Math.max(high / ratio - 1, 1 - low / ratio);
}
