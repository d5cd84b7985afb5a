import type { BenchmarkAgent, MeasureRequest } from '../agent/benchmark-agent.js';
import { PlatformError } from '../base/errors.js';
import { maxOf } from '../base/long-lists.js';
import type { EvaluationEvent } from '../evaluation/event.js';
import { computeDisturbance, isUnderLoad } from '../measurement/disturbance.js';
import { KnownResults } from './known-results.js';
import { RetakeLimit } from './retake.js';

export interface Pair {
  readonly label: string;
  readonly requests: Both<readonly MeasureRequest[]>;
}

export type Both<T> = readonly [first: T, second: T];

export interface PairedOptions {
  readonly rounds: number;
  readonly signal: AbortSignal;
  readonly onEvent: (event: EvaluationEvent) => void;
}

/**
 * In rounds, A B B A, in processes of their own. Nothing is read from a store: both sides belong to the same minutes. A
 * disturbed pair is measured again, and the less disturbed results count: the load decides, never a latency.
 *
 * @yields the results of both sides after each complete round, until the signal aborts
 */
export async function* measurePaired(
  agents: Both<BenchmarkAgent>,
  pairs: readonly Pair[],
  { rounds, signal, onEvent }: PairedOptions,
): AsyncGenerator<Both<KnownResults>> {
  const limit = new RetakeLimit();
  /** Each occasion is in another process. */
  let occasion = 0;

  async function measureHalf(agent: BenchmarkAgent, requests: readonly MeasureRequest[]): Promise<KnownResults> {
    const half = new KnownResults();
    occasion++;
    const numbered = requests.map((request) => ({ ...request, occasion }));
    for await (const { index, measurement } of agent.measure(numbered, { signal })) {
      const asked = requests[index];
      if (asked !== undefined) half.put({ ...measurement, occasion: asked.occasion });
    }
    return half;
  }

  async function measurePair({ requests }: Pair, isReversed: boolean): Promise<Both<KnownResults>> {
    const measureSide = (side: 0 | 1): Promise<KnownResults> => measureHalf(agents[side], requests[side]);
    const early = await measureSide(isReversed ? 1 : 0);
    const late = await measureSide(isReversed ? 0 : 1);
    return isReversed ? [late, early] : [early, late];
  }

  try {
    for (let round = 0; round < rounds; round++) {
      const results: Both<KnownResults> = [new KnownResults(), new KnownResults()];
      for (const [index, pair] of pairs.entries()) {
        const label = `round ${round + 1} of ${rounds}: ${pair.label}`;
        onEvent({ kind: 'measuring', label, done: round * pairs.length + index, total: rounds * pairs.length });
        const isReversed = (round + index) % 2 === 1;
        let halves = await measurePair(pair, isReversed);
        if (halves.some(isLoaded) && !limit.isReached) {
          const again = await measurePair(pair, isReversed);
          if (disturbanceIn(again) < disturbanceIn(halves)) halves = again;
          if (halves.some(isLoaded)) limit.count();
        }
        results[0].add(halves[0]);
        results[1].add(halves[1]);
      }
      yield results;
    }
  } catch (error) {
    if (!(error instanceof PlatformError && error.code === 'cancelled')) throw error;
  }
}

function isLoaded(half: KnownResults): boolean {
  return [...half.measurements()].some(isUnderLoad);
}

function disturbanceIn(halves: Both<KnownResults>): number {
  return Math.max(0, maxOf(halves.flatMap((half) => [...half.measurements()].map(computeDisturbance))));
}
