/** What a trial at a rate shows; null where it shows nothing. */
export type RateTrial = (perSecond: number, seed: number) => Promise<boolean | null>;

export interface RateSearch {
  /** The largest rate that passed, with three further seeds as well; null where none did. */
  readonly passed: number | null;
  /** The smallest rate above it that failed; null where none did. */
  readonly failed: number | null;
  readonly trials: number;
  /** Why the search ended early; null where it did not. */
  readonly stopped: string | null;
}

const TOLERANCE = 0.02;
const CONFIRMATIONS = 3;
const ATTEMPTS = 3;
/** Bounds of the search, which no real server reaches. */
const MAX_DOUBLINGS = 16;
const MAX_HALVINGS = 12;
const MAX_LOWERINGS = 40;
const MAX_RETAKES = 2;

/**
 * The largest rate within a bound: doubles while it holds, then bisects to 2 %. A trial may fail by chance, so the
 * smallest rate that failed is tried again with another seed; if it passes, the search goes on above it. A trial may
 * pass by chance, so the rate is then lowered by 2 % until it passes with three further seeds.
 *
 * @param startRate half of what one server answers at most @param seed of the first trial; further trials count it up
 */
export async function largestRate(trial: RateTrial, startRate: number, seed: number): Promise<RateSearch> {
  let trials = 0;
  let passed: number | null = null;
  const failures: number[] = [];
  const outcome = (stopped: string | null = null): RateSearch => {
    const above = failures.filter((rate) => passed === null || rate > passed);
    return { passed, failed: above.length === 0 ? null : Math.min(...above), trials, stopped };
  };
  const holds = async (rate: number): Promise<boolean | null> => {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const result = await trial(rate, seed + trials++);
      if (result === false) failures.push(rate);
      if (result !== null) return result;
    }
    return null;
  };

  let low: number | undefined;
  let high: number | undefined;
  let rate = startRate;
  for (let retakes = 0; ; retakes++) {
    for (let step = 0; low === undefined || high === undefined; step++) {
      const result = await holds(rate);
      if (result === null) return outcome('a trial had no result');
      if (result) low = rate;
      else high = rate;
      if (high === undefined && step >= MAX_DOUBLINGS) return outcome('no rate is too high');
      if (low === undefined && step >= MAX_HALVINGS) return outcome('no rate is low enough');
      rate = result ? rate * 2 : rate / 2;
    }
    while (high - low > TOLERANCE * low) {
      const middle: number = (low + high) / 2;
      const result = await holds(middle);
      if (result === null) return outcome('a trial had no result');
      if (result) low = middle;
      else high = middle;
    }
    if (retakes === MAX_RETAKES) break;
    const retaken = await holds(high);
    if (retaken === null) return outcome('a trial had no result');
    if (!retaken) break;
    const passing: number = high;
    low = passing;
    high = failures.filter((failed) => failed > passing).sort((a, b) => a - b)[0];
    rate = 2 * passing;
  }
  for (let lowered = 0; lowered < MAX_LOWERINGS; lowered++) {
    let again = 0;
    for (; again < CONFIRMATIONS; again++) {
      const result = await holds(low);
      if (result === null) return outcome('a trial had no result');
      if (!result) break;
    }
    if (again === CONFIRMATIONS) {
      passed = low;
      return outcome();
    }
    low *= 1 - TOLERANCE;
  }
  return outcome('no rate passes with three seeds');
}
