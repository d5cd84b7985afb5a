import { uniform, xoshiro128pp } from '../base/random.js';

export interface Arrival {
  /** Milliseconds since the start of the run. */
  readonly atMs: number;
  readonly samples: number;
}

/**
 * A number of the exponential distribution with mean 1. Comparisons and one addition give the same bits on every
 * machine; a logarithm may not. Source: von Neumann, "Various techniques used in connection with random digits", 1951.
 */
export function exponential(next: () => number): number {
  for (let whole = 0; ; whole++) {
    const first = uniform(next);
    let last = first;
    let isOdd = true;
    for (let drawn = uniform(next); drawn < last; drawn = uniform(next)) {
      last = drawn;
      isOdd = !isOdd;
    }
    if (isOdd) return whole + first;
  }
}

export interface PoissonOptions {
  readonly perSecond: number;
  /** The run ends when it has this many queries and is this long. */
  readonly queries: number;
  readonly leastMs?: number;
  readonly samples?: number;
  readonly seed: number;
}

export function poissonArrivals(options: PoissonOptions): readonly Arrival[] {
  const { perSecond, queries, leastMs = 0, samples = 1, seed } = options;
  const next = xoshiro128pp(seed);
  const meanMs = 1000 / perSecond;
  const arrivals: Arrival[] = [];
  for (let atMs = 0; ;) {
    atMs += meanMs * exponential(next);
    if (arrivals.length >= queries && atMs > leastMs) return arrivals;
    arrivals.push({ atMs, samples });
  }
}

/** Queries per second of a schedule; NaN for fewer than two queries. */
export function offeredRate(arrivals: readonly Arrival[]): number {
  const first = arrivals[0];
  const last = arrivals.at(-1);
  if (first === undefined || last === undefined || last.atMs === first.atMs) return NaN;
  return ((arrivals.length - 1) * 1000) / (last.atMs - first.atMs);
}
