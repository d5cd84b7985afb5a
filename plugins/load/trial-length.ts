import { leastQueries, MAX_QUERIES, maxOf, parseBound, sumOf } from '../../src/plugin-api.js';
import type { LoadSettings } from './settings.js';

/** All trials of a model together. */
export const MAX_TRIALS_MS = 12 * 3_600_000;

/** Machines are slow for seconds at a time, which would decide a shorter trial of a search. */
const SEARCH_MS = 10_000;
const SEARCH_QUERIES = 10_000;

/** Queries of a closed loop where nobody says how many. */
export const CLOSED_QUERIES = 200;

export const BATCH_QUERIES = 30;

/** Queries over the bound that a trial has room for, by the rule of early stopping. */
const OVER = 10;

/** The share that a trial without a bound has to show. */
const USUAL_SHARE = 0.99;

/** About as many as a search has. */
export const TRIALS_OF_SEARCH = 15;

/** Trials that take longer are announced. */
export const LONG_MS = 600_000;

export function isSearch({ scenario, rates }: Pick<LoadSettings, 'scenario' | 'rates'>): boolean {
  return scenario === 'server' && rates === undefined;
}

/** Of a trial. */
export function plannedQueries({ scenario, queries, bound, arrivals }: LoadSettings): number {
  if (queries !== undefined) return queries;
  if (scenario === 'replay') return arrivals?.length ?? 0;
  if (scenario === 'batch') return BATCH_QUERIES;
  if (scenario !== 'server' && bound === undefined) return CLOSED_QUERIES;
  return leastQueries(parseBound(bound ?? '')?.share ?? USUAL_SHARE, OVER);
}

export function leastTrialMs(settings: LoadSettings, perSecond: number): number {
  const { least_ms: leastMs } = settings;
  if (!isSearch(settings)) return leastMs ?? 0;
  return Math.min(leastMs ?? SEARCH_MS, (1000 * (leastMs === undefined ? SEARCH_QUERIES : MAX_QUERIES)) / perSecond);
}

function trialMs(settings: LoadSettings, perSecond: number): number {
  return Math.max((1000 * plannedQueries(settings)) / perSecond, leastTrialMs(settings, perSecond));
}

/** Of all trials of a model, about. @param searched a rate near the largest one, where it is searched and known */
export function lengthOfTrials(
  settings: LoadSettings,
  searched?: number,
): { readonly ms: number; readonly text: string } {
  const { rates = searched === undefined ? [] : [searched], clients = [1], batches, searches } = settings;
  const alike = isSearch(settings)
    ? TRIALS_OF_SEARCH * searches
    : rates.length > 0
      ? 1
      : clients.length * batches.length;
  const ms =
    alike * (rates.length > 0 ? sumOf(rates.map((rate) => trialMs(settings, rate))) : leastTrialMs(settings, 0));
  const howMany = searches === 1 ? 'a search has' : `each of ${searches} searches has`;
  const ofSearch = isSearch(settings) ? ` (${howMany} some ${TRIALS_OF_SEARCH})` : '';
  const isByQueries = rates.some((rate) => trialMs(settings, rate) > leastTrialMs(settings, rate));
  const remedy = isByQueries
    ? `each has ${plannedQueries(settings)} queries, and a lower percentile (--bound) or fewer queries (--queries) take less`
    : 'a shorter length (--duration) takes less';
  return { ms, text: `the trials${ofSearch} take about ${Math.round(ms / 60_000)} min; ${remedy}` };
}

/** Why the trials of a model cannot be measured. */
export function lengthProblem(settings: LoadSettings, searched?: number): string | undefined {
  const { bound, rates = [], least_ms: leastMs = 0, measure } = settings;
  const queries = plannedQueries(settings);
  if (queries > MAX_QUERIES) {
    const problem = `a trial for ${bound} has ${queries} queries, and ${MAX_QUERIES} is the most`;
    return `${problem}; choose a lower percentile (--bound), or fewer queries (--queries)`;
  }
  const fastest = Math.max(0, maxOf(rates));
  if ((fastest * leastMs) / 1000 > MAX_QUERIES) {
    const problem = `a trial of ${leastMs / 1000} s at ${fastest}/s has more than ${MAX_QUERIES} queries`;
    return `${problem}; choose a shorter length (--duration)`;
  }
  const { ms, text } = lengthOfTrials(settings, searched);
  return measure && ms > MAX_TRIALS_MS ? `${text}; ${MAX_TRIALS_MS / 60_000} min is the most` : undefined;
}
