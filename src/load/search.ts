import { minOf } from '../base/long-lists.js';

/** A trial that a search asks for. */
export interface RateTrial {
  readonly perSecond: number;
  readonly seed: number;
}

/** What a trial at a rate shows; null where it shows nothing. */
export type RateHolds = boolean | null;

export interface RateSearch {
  /** The largest rate that passed, with three further seeds as well; null where none did. */
  readonly passed: number | null;
  /** The smallest rate above it that failed; null where none did. */
  readonly failed: number | null;
  readonly trials: number;
  /** Why the search ended early; null where it did not. */
  readonly stopped: string | null;
}

/** Asks for one trial after the other, and takes what each shows. */
export type RateSearching = Generator<RateTrial, RateSearch, RateHolds>;

type Step<T> = Generator<RateTrial, T, RateHolds>;

const TOLERANCE = 0.02;
const CONFIRMATIONS = 3;
const ATTEMPTS = 3;
/** No real server reaches it. */
const MAX_DOUBLINGS = 16;
/** Queries hardly wait for each other at such a small rate, and a trial would take long. */
const MAX_HALVINGS = 6;
const MAX_LOWERINGS = 40;
const MAX_RETAKES = 2;

/** Why a search ends early. */
class Stop extends Error {}

class RateSearcher {
  #trials = 0;
  readonly #failures: number[] = [];

  /** @param seed of the first trial; further trials count it up */
  constructor(private readonly seed: number) {}

  result(passed: number | null, stopped: string | null): RateSearch {
    const failed = this.#failedAbove(passed ?? 0);
    return { passed, failed: failed ?? null, trials: this.#trials, stopped };
  }

  /** Doubles while rates hold, then bisects. @returns neighbours of which the first holds */
  *around(startRate: number): Step<readonly [number, number]> {
    let [low, high] = yield* this.#bracket(startRate);
    for (let retakes = 0; ; retakes++) {
      [low, high] = yield* this.#bisect(low, high);
      if (retakes === MAX_RETAKES || !(yield* this.#holds(high))) return [low, high];
      const failed = this.#failedAbove(high);
      [low, high] = failed === undefined ? yield* this.#bracket(high * 2, high) : [high, failed];
    }
  }

  /** Lowers the rate until it holds with further seeds. */
  *confirmed(rate: number): Step<number> {
    for (let lowered = 0; lowered < MAX_LOWERINGS; lowered++) {
      let again = 0;
      while (again < CONFIRMATIONS && (yield* this.#holds(rate))) again++;
      if (again === CONFIRMATIONS) return rate;
      rate *= 1 - TOLERANCE;
    }
    throw new Stop('no rate passes with three seeds');
  }

  *#bracket(rate: number, low?: number): Step<readonly [number, number]> {
    let high: number | undefined;
    for (let step = 0; low === undefined || high === undefined; step++) {
      const holds = yield* this.#holds(rate);
      if (holds) low = rate;
      else high = rate;
      if (high === undefined && step >= MAX_DOUBLINGS) throw new Stop('no rate is too high');
      if (low === undefined && step >= MAX_HALVINGS) throw new Stop('no rate is low enough; choose a larger bound');
      rate = holds ? rate * 2 : rate / 2;
    }
    return [low, high];
  }

  *#bisect(low: number, high: number): Step<readonly [number, number]> {
    while (high - low > TOLERANCE * low) {
      const middle = (low + high) / 2;
      if (yield* this.#holds(middle)) low = middle;
      else high = middle;
    }
    return [low, high];
  }

  *#holds(perSecond: number): Step<boolean> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const holds = yield { perSecond, seed: this.seed + this.#trials++ };
      if (holds === false) this.#failures.push(perSecond);
      if (holds !== null) return holds;
    }
    throw new Stop('a trial had no result');
  }

  #failedAbove(rate: number): number | undefined {
    const above = this.#failures.filter((failed) => failed > rate);
    return above.length === 0 ? undefined : minOf(above);
  }
}

/**
 * The largest rate within a bound: doubles while it holds, then bisects to 2 %. A trial may fail by chance, so the
 * smallest rate that failed is tried again with another seed; if it passes, the search goes on above it. A trial may
 * pass by chance, so the rate is then lowered by 2 % until it passes with three further seeds.
 *
 * @param startRate half of what one server answers at most @param seed of the first trial; further trials count it up
 */
export function* searchRate(startRate: number, seed: number): RateSearching {
  const searcher = new RateSearcher(seed);
  try {
    const [holding] = yield* searcher.around(startRate);
    return searcher.result(yield* searcher.confirmed(holding), null);
  } catch (error) {
    if (error instanceof Stop) return searcher.result(null, error.message);
    throw error;
  }
}

/** A search whose trials show something at once, as simulated ones do. */
export function largestRate(holds: (trial: RateTrial) => RateHolds, startRate: number, seed: number): RateSearch {
  const search = searchRate(startRate, seed);
  let step = search.next();
  while (step.done !== true) step = search.next(holds(step.value));
  return step.value;
}
