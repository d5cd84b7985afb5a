import { type Bound, leastQueries, offeredRate, poissonArrivals, type TrialOptions } from '../../src/plugin-api.js';
import { leastTrialMs, limitOf, type LoadSettings, replayedArrivals } from './settings.js';

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

/** Queries of a closed loop where nobody says how many. */
export const CLOSED_QUERIES = 200;

export const BATCH_QUERIES = 30;

/** Queries over the bound that a trial has room for, by the rule of early stopping. */
const OVER = 10;

/** The share that a trial without a bound has to show. */
const USUAL_SHARE = 0.99;

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

export function serverQueries({ queries }: LoadSettings, bound: Bound | undefined): number {
  return queries ?? leastQueries(bound?.share ?? USUAL_SHARE, OVER);
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
  const arrivals = poissonArrivals({ perSecond, queries: serverQueries(settings, bound), leastMs, samples, seed });
  return { samples: [samples], options: { plan: { kind: 'open', arrivals }, bound, dispatch, seed, limit } };
}

export function planTrials(settings: LoadSettings, bound: Bound | undefined): readonly TrialPlan[] {
  const { scenario, rates = [], batches, seed, dispatch, think_ms: thinkMs, least_ms: leastMs = 0 } = settings;
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
        const queries = settings.queries ?? BATCH_QUERIES;
        const arrivals = Array.from({ length: queries }, () => ({ atMs: 0, samples }));
        const plan = { kind: 'open', arrivals } as const;
        return { samples: [samples], options: { ...usual, bound: undefined, plan, limit: samples } };
      });
    case 'single':
    case 'clients': {
      const asked = scenario === 'single' ? [1] : settings.clients;
      const queries = settings.queries ?? (bound === undefined ? CLOSED_QUERIES : leastQueries(bound.share, OVER));
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
