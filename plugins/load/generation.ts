import {
  type Bound,
  largestRate,
  NO_BATCHING,
  offeredRate,
  PlatformError,
  poissonArrivals,
  type RateTrial,
  readJsonFile,
  simulateTrial,
  summarizeTrial,
  type TrialSummary,
  z,
} from '../../src/plugin-api.js';
import type { GenerationRow } from './load-result.js';
import { perSecondText } from './headlines.js';
import type { LoadSettings } from './settings.js';
import type { Costs, EstimatedTimes } from './predict.js';
import { quantile, type Slowness } from './stand-in.js';
import { leastTrialMs, plannedQueries } from './trial-length.js';

const ms = z.number().nonnegative().nullable();

/** The part of a report of dlbricks that says how long a text takes. */
const generationSchema = z.object({
  model: z.string(),
  prompt: z.int().positive(),
  tokens: z.int().positive(),
  first_token_ms: ms,
  first_token_low_ms: ms,
  first_token_high_ms: ms,
  further_tokens_ms: ms,
  further_tokens_low_ms: ms,
  further_tokens_high_ms: ms,
});

export type Generation = z.infer<typeof generationSchema>;

const reportSchema = z.object({ generations: z.array(generationSchema).default([]) });
const fileSchema = z.union([z.object({ reports: z.array(reportSchema) }), reportSchema]);

/** @throws PlatformError `usage` where the file has no texts */
export async function readGenerations(path: string): Promise<readonly Generation[]> {
  const remedy = "'dlbricks run' of an evaluation with settings.generation writes one with --export-json";
  const { data } = fileSchema.safeParse(await readJsonFile(path, 'report', remedy));
  const found = data === undefined ? [] : 'reports' in data ? data.reports : [data];
  const generations = found.flatMap((report) => report.generations);
  if (generations.length > 0) return generations;
  throw new PlatformError('usage', `${path}: has no generated texts; ${remedy}`);
}

interface Times {
  readonly firstMs: number;
  readonly furtherMs: number;
}

function firstTokens(
  { firstMs, furtherMs }: Times,
  perSecond: number,
  seed: number,
  { settings, costs, slowness, bound }: Generating,
  end: keyof EstimatedTimes = 'value',
): { readonly summary: TrialSummary; readonly offered: number } {
  const arrivals = poissonArrivals({
    perSecond,
    queries: plannedQueries(settings),
    leastMs: leastTrialMs(settings, perSecond),
    seed,
  });
  const options = { plan: { kind: 'open', arrivals }, dispatch: 'turns', seed, limit: 1 } as const;
  const slowdown = slowdownAt(slowness, end);
  const handoverMs = (): number => costs.handoverMs;
  const service = { ...costs, handoverMs, runMs: () => (firstMs + furtherMs) * slowdown };
  const trial = simulateTrial(options, NO_BATCHING, [service]);
  const records = trial.records.map((one) => ({ ...one, finishedMs: (one.startedMs ?? NaN) + firstMs * slowdown }));
  const over = bound === undefined ? 0 : records.filter((one) => one.finishedMs - one.scheduledMs > bound.ms).length;
  const summary = summarizeTrial(records, { ...trial, over }, { bound, servers: 1, isOpen: true });
  return { summary, offered: offeredRate(arrivals) };
}

interface Generating {
  readonly settings: LoadSettings;
  readonly bound: Bound | undefined;
  readonly costs: Costs;
  readonly slowness?: Slowness | undefined;
}

/** Tokens of a text follow each other without pauses. */
function slowdownAt(slowness: Slowness | undefined, end: keyof EstimatedTimes): number {
  const share = { low: 0.05, value: 0.5, high: 0.95 }[end];
  return quantile(slowness?.denseMeans() ?? [1], share);
}

function timesOf(firstMs: number | null, furtherMs: number | null): Times | undefined {
  return firstMs === null || furtherMs === null ? undefined : { firstMs, furtherMs };
}

/** What texts take under load: their service time is that of all tokens, and a bound is on the first one. */
export function predictGeneration(one: Generation, generating: Generating): readonly GenerationRow[] {
  const { settings } = generating;
  const { model, prompt, tokens, first_token_ms: firstMs, further_tokens_ms: furtherMs } = one;
  const ends = {
    low: timesOf(one.first_token_low_ms, one.further_tokens_low_ms),
    value: timesOf(firstMs, furtherMs),
    high: timesOf(one.first_token_high_ms, one.further_tokens_high_ms),
  };
  const { value, high } = ends;
  const base = { model, prompt, tokens, service_ms: value === undefined ? null : value.firstMs + value.furtherMs };
  const furtherTokenMs = furtherMs === null || tokens < 2 ? null : furtherMs / (tokens - 1);
  const none = { low: null, value: null, high: null };
  const nothing = { ...base, further_token_ms: furtherTokenMs, offered_per_second: null, utilization: null };
  if (value === undefined) {
    const reason = 'the report has no complete estimate of it';
    return [{ ...nothing, first_token_p50_ms: none, first_token_p99_ms: none, reason }];
  }
  const slowest = high ?? value;
  const slowestMs =
    (slowest.firstMs + slowest.furtherMs) * slowdownAt(generating.slowness, 'high') + generating.costs.betweenMs;
  const rates = settings.rates ?? largestFirst(value, generating);
  return rates.map((perSecond): GenerationRow => {
    const at = (end: keyof EstimatedTimes) => {
      return ends[end] && firstTokens(ends[end], perSecond, settings.seed, generating, end);
    };
    const worst = (perSecond * slowestMs) / 1000;
    const row = { ...nothing, utilization: (perSecond * (value.firstMs + value.furtherMs)) / 1000 };
    if (worst >= 1) {
      const reason = `texts may take longer than they come (utilization ${worst.toPrecision(3)}); rates below ${perSecondText(perSecond / worst)} are safe`;
      return { ...row, offered_per_second: perSecond, first_token_p50_ms: none, first_token_p99_ms: none, reason };
    }
    const all = { low: at('low'), value: at('value'), high: at('high') };
    const figure = (index: number) => {
      const [low = null, middle = null, high = null] = Object.values(all).map(
        (one) => one?.summary.percentilesMs[index],
      );
      return { low, value: middle, high };
    };
    const percentiles = { first_token_p50_ms: figure(0), first_token_p99_ms: figure(3) };
    return { ...row, offered_per_second: all.value?.offered ?? perSecond, ...percentiles, reason: null };
  });
}

function largestFirst(times: Times, generating: Generating): readonly number[] {
  if (generating.bound === undefined) return [];
  const { seed: first } = generating.settings;
  const holds = ({ perSecond, seed }: RateTrial): boolean | null => {
    return firstTokens(times, perSecond, seed, generating).summary.holds;
  };
  const { passed } = largestRate(holds, 500 / (times.firstMs + times.furtherMs), first);
  return passed === null ? [] : [passed];
}
