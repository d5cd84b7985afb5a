import {
  type BatchTime,
  currentEstimates,
  dimensionsText,
  interpolated,
  type KeptEstimate,
  largestRate,
  type LoadedModel,
  type ResultStore,
  type ServiceTimes,
  signatureWithoutName,
  simulateTrial,
  summaryOf,
  type System,
  withBatch,
} from '../../src/plugin-api.js';
import type { Figures, Overhead, PredictedLoad, SearchedRate } from './load-result.js';
import { figuresOf } from './figures.js';
import type { TrialPlan } from './trials.js';

/** Estimates of a run of some sizes. */
export interface EstimatedTimes {
  readonly low: readonly BatchTime[] | undefined;
  readonly value: readonly BatchTime[];
  readonly high: readonly BatchTime[] | undefined;
}

/** Where a prediction comes from. */
export interface Predicting {
  readonly times: EstimatedTimes;
  readonly overhead: Overhead;
  readonly agents: number;
  readonly waitMs: number;
}

const MAX_LISTED = 8;

/** Sizes whose estimates give those of all runs: the ends, and powers of two between them. */
function sizesNeeded(sizes: readonly number[]): readonly number[] {
  if (sizes.length <= MAX_LISTED) return sizes;
  const last = sizes.length - 1;
  return sizes.filter((size, index) => index === 0 || index === last || Number.isInteger(Math.log2(size)));
}

/** The newest complete estimates of dlbricks for a model on a system, by the size of the batch. */
export async function storedEstimates(
  loaded: LoadedModel,
  bound: number,
  sizes: readonly number[],
  system: System,
  store: ResultStore,
): Promise<EstimatedTimes | { readonly reason: string }> {
  const current = await currentEstimates(store);
  const found = new Map<number, KeptEstimate>();
  const missing: number[] = [];
  for (const batch of sizesNeeded(sizes)) {
    const rebound = withBatch(loaded, bound, batch);
    const graph = signatureWithoutName(rebound.model);
    const dimensions = dimensionsText(rebound, batch);
    const fitting = current.filter((one) => {
      const isOfRun = one.plugin === 'dlbricks' && one.system === system.fingerprint && one.batch === batch;
      return (
        isOfRun && one.graph === graph && one.dimensions === dimensions && one.coverage === 1 && one.latencyMs !== null
      );
    });
    const [newest] = fitting.toSorted(
      (a, b) => Number(a.settings !== '') - Number(b.settings !== '') || (a.at < b.at ? 1 : -1),
    );
    if (newest === undefined) missing.push(batch);
    else found.set(batch, newest);
  }
  if (missing.length > 0) {
    const [batches, threads] = [missing.join(','), system.runOptions.threads];
    const command = `dlbricks run ${loaded.name} --batch ${batches} --threads ${threads}`;
    const of = missing.length === 1 ? `a batch of ${batches}` : `batches of ${batches}`;
    return { reason: `the store has no complete estimate for ${of} on this system; '${command}' makes it` };
  }
  const curve = (msOf: (one: KeptEstimate) => number | null): readonly BatchTime[] | undefined => {
    const times = [...found].flatMap(([batch, one]) => {
      const ms = msOf(one);
      return ms === null ? [] : [{ batch, ms }];
    });
    return times.length === found.size ? times : undefined;
  };
  return {
    low: curve(({ lowMs }) => lowMs),
    value: curve(({ latencyMs }) => latencyMs) ?? [],
    high: curve(({ highMs }) => highMs),
  };
}

function serviceTimes(times: readonly BatchTime[], { overhead }: Predicting): ServiceTimes {
  const { handover_ms: handoverMs, return_ms: returnMs, between_ms: betweenMs } = overhead;
  return { runMs: interpolated(times), handoverMs, returnMs, betweenMs };
}

function simulated(plan: TrialPlan, times: readonly BatchTime[] | undefined, predicting: Predicting): Figures | null {
  if (times === undefined) return null;
  const { agents, waitMs } = predicting;
  const servers = Array.from({ length: agents }, () => serviceTimes(times, predicting));
  const trial = simulateTrial(plan.options, { limit: plan.limit, waitMs }, servers);
  const { bound } = plan.options;
  const isOpen = plan.options.plan.kind === 'open';
  return figuresOf(summaryOf(trial.records, trial, { bound, servers: agents, isOpen }));
}

/** Share of the time in which runs of the largest size keep the agents busy at an offered rate. */
function utilizationOf(
  plan: TrialPlan,
  offered: number | null,
  times: readonly BatchTime[],
  { overhead, agents }: Predicting,
) {
  if (offered === null || !Number.isFinite(offered)) return null;
  const samples = Math.max(...plan.samples);
  const queries = Math.max(1, Math.floor(plan.limit / samples));
  const busyMs = interpolated(times)(queries * samples) + overhead.between_ms;
  return (offered * busyMs) / 1000 / queries / agents;
}

const NOTHING: PredictedLoad = {
  low: null,
  value: null,
  high: null,
  service_ms: null,
  service_low_ms: null,
  service_high_ms: null,
  utilization: null,
  growth: null,
  reason: null,
};

/** What a trial would show, three times: with both ends of the estimate's interval, and with the estimate. */
export function predictTrial(plan: TrialPlan, offered: number | null, predicting: Predicting): PredictedLoad {
  const { low, value, high } = predicting.times;
  const [samples = 1] = plan.samples;
  const at = (times: readonly BatchTime[] | undefined) => (times === undefined ? null : interpolated(times)(samples));
  const service = { service_ms: at(value), service_low_ms: at(low), service_high_ms: at(high) };
  const rho = utilizationOf(plan, offered, value, predicting);
  const worst = utilizationOf(plan, offered, high ?? value, predicting);
  // Everything at one time fills the queue on purpose.
  if (worst !== null && worst >= 1) {
    const safe = Number(((offered ?? 0) / worst).toPrecision(3));
    const reason = `the model may be slower than the queries come (utilization ${worst.toPrecision(3)}), and no queue lasts then; rates below ${safe}/s are safe`;
    return { ...NOTHING, ...service, utilization: rho, reason };
  }
  return {
    ...service,
    low: simulated(plan, low, predicting),
    value: simulated(plan, value, predicting),
    high: simulated(plan, high, predicting),
    utilization: rho,
    growth: rho === null ? null : (2 - rho) / (1 - rho),
    reason: null,
  };
}

export function noPrediction(reason: string): PredictedLoad {
  return { ...NOTHING, reason };
}

export type PredictedRate = NonNullable<SearchedRate['predicted']>;

/** The largest rate within the bound, by the same search as a measurement. */
export async function predictRate(
  trialAt: (perSecond: number, seed: number) => TrialPlan,
  startRate: (times: readonly BatchTime[]) => number,
  seed: number,
  predicting: Predicting,
): Promise<PredictedRate> {
  const search = async (times: readonly BatchTime[] | undefined): Promise<number | null> => {
    if (times === undefined) return null;
    const trial = (perSecond: number, ofTrial: number): Promise<boolean | null> => {
      return Promise.resolve(simulated(trialAt(perSecond, ofTrial), times, predicting)?.holds ?? null);
    };
    return (await largestRate(trial, startRate(times), seed)).passed;
  };
  const { low, value, high } = predicting.times;
  const rate = await search(value);
  return {
    low_per_second: await search(high),
    value_per_second: rate,
    high_per_second: await search(low),
    reason: rate === null ? 'no rate holds the bound: it is too near to the time of a run' : null,
  };
}

/** The estimated time of a run of each size that a sweep asks for. */
export function estimatedCurve({ value }: EstimatedTimes, sizes: readonly number[]): readonly BatchTime[] {
  const ms = interpolated(value);
  return sizes.map((batch) => ({ batch, ms: ms(batch) }));
}
