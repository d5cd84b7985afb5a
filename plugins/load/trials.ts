import { type Bound, offeredRate, poissonArrivals, type TrialOptions } from '../../src/plugin-api.js';
import { limitOf, type LoadSettings, replayedArrivals } from './settings.js';
import { leastTrialMs, plannedQueries } from './trial-length.js';

export interface TrialPlan {
  /** Of its queries. */
  readonly samples: readonly number[];
  readonly options: TrialOptions;
}

/** null for closed loops, and for queries of one moment. */
export function computeOfferedRate({ options: { plan } }: TrialPlan): number | null {
  if (plan.kind === 'closed') return null;
  const offered = offeredRate(plan.arrivals);
  return Number.isFinite(offered) ? offered : null;
}

/** From the first to the last query; 0 for closed loops, and for queries of one moment. */
export function scheduledMs({ options: { plan } }: TrialPlan): number {
  return plan.kind === 'open' ? (plan.arrivals.at(-1)?.atMs ?? 0) : 0;
}

/** More than a search has trials. */
const SEEDS_OF_SEARCH = 1000;

/** Of the first trial of a search, from 0 on; further trials count it up. Chance differs from search to search. */
export function firstSeed({ seed }: Pick<LoadSettings, 'seed'>, search: number): number {
  return seed + SEEDS_OF_SEARCH * search;
}

export function serverTrial(
  settings: LoadSettings,
  perSecond: number,
  seed: number,
  bound: Bound | undefined,
): TrialPlan {
  const { batches, dispatch } = settings;
  const [samples = 1] = batches;
  const limit = limitOf(settings, [samples]);
  const leastMs = leastTrialMs(settings, perSecond);
  const arrivals = poissonArrivals({ perSecond, queries: plannedQueries(settings), leastMs, samples, seed });
  return { samples: [samples], options: { plan: { kind: 'open', arrivals }, bound, dispatch, seed, limit } };
}

export function planTrials(settings: LoadSettings, bound: Bound | undefined): readonly TrialPlan[] {
  const { scenario, rates = [], batches, seed, dispatch, think_ms: thinkMs } = settings;
  const usual = { bound, dispatch, seed };
  switch (scenario) {
    case 'server':
      return rates.map((rate) => serverTrial(settings, rate, seed, bound));
    case 'replay': {
      const arrivals = replayedArrivals(settings);
      const samples = [...new Set(arrivals.map((arrival) => arrival.samples))];
      return [{ samples, options: { ...usual, plan: { kind: 'open', arrivals }, limit: limitOf(settings, samples) } }];
    }
    case 'batch':
      return batches.map((samples) => {
        const arrivals = Array.from({ length: plannedQueries(settings) }, () => ({ atMs: 0, samples }));
        const plan = { kind: 'open', arrivals } as const;
        return { samples: [samples], options: { ...usual, bound: undefined, plan, limit: samples } };
      });
    case 'single':
    case 'clients': {
      const { clients: asked = [1] } = settings;
      const queries = plannedQueries(settings);
      const leastMs = leastTrialMs(settings, 0);
      return batches.flatMap((samples) =>
        asked.map((clients) => {
          const think = [scenario === 'single' ? 0 : thinkMs];
          const plan = { kind: 'closed', clients, samples, queries, leastMs, thinkMs: think } as const;
          return { samples: [samples], options: { ...usual, plan, limit: limitOf(settings, [samples]) } };
        }),
      );
    }
  }
}
