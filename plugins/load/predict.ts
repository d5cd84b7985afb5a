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
  xoshiro128pp,
} from '../../src/plugin-api.js';
import type { Figures, Overhead, PredictedLoad, SearchedRate } from './load-result.js';
import { figuresOf } from './figures.js';
import { variationOf } from './stored-runs.js';
import { offeredOf, type TrialPlan } from './trials.js';

export interface EstimatedTimes {
  readonly low: readonly BatchTime[] | undefined;
  readonly value: readonly BatchTime[];
  readonly high: readonly BatchTime[] | undefined;
}

export interface Predicting {
  readonly times: EstimatedTimes;
  readonly overhead: Overhead;
  readonly agents: number;
  readonly waitMs: number;
  /** Times of the model's runs over their mean; undefined: every run takes the estimate. */
  readonly runTimes?: readonly number[] | undefined;
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

interface Costs {
  readonly handoverMs: number;
  /** Time of a run over its time without pauses. */
  readonly slowdown: number;
}

/**
 * Linear between the measured loads: an idle machine is slower, so costs fall while the utilization grows. Costs vary
 * from hour to hour, so the ends of an interval have the smallest and the largest ones.
 */
export function costsAt({ loads }: Overhead, utilization: number, end: keyof EstimatedTimes): Costs {
  const sorted = loads.toSorted((a, b) => a.utilization - b.utilization);
  const after = sorted.findIndex((load) => load.utilization >= utilization);
  const high = sorted[after] ?? sorted.at(-1);
  const low = sorted[after - 1] ?? high;
  if (low === undefined || high === undefined) return { handoverMs: 0, slowdown: 1 };
  if (end !== 'value') {
    const extreme = end === 'low' ? Math.min : Math.max;
    const handoverMs = extreme(...loads.map((load) => load.handover_ms));
    return { handoverMs, slowdown: extreme(1, ...loads.map(({ slowdown }) => slowdown)) };
  }
  const share = low === high ? 0 : (utilization - low.utilization) / (high.utilization - low.utilization);
  const mixed = (of: 'handover_ms' | 'slowdown'): number => low[of] + share * (high[of] - low[of]);
  return { handoverMs: mixed('handover_ms'), slowdown: mixed('slowdown') };
}

function serviceTimes(
  times: readonly BatchTime[],
  { overhead, runTimes }: Predicting,
  { handoverMs, slowdown }: Costs,
  seed: number,
): ServiceTimes {
  const { return_ms: returnMs, between_ms: betweenMs } = overhead;
  const estimate = interpolated(times);
  const next = xoshiro128pp(seed);
  const runMs = (samples: number): number => {
    const relative = runTimes === undefined ? 1 : (runTimes[next() % runTimes.length] ?? 1);
    return estimate(samples) * slowdown * relative;
  };
  return { runMs, handoverMs, returnMs, betweenMs };
}

function simulated(plan: TrialPlan, predicting: Predicting, end: keyof EstimatedTimes): Figures | null {
  const times = predicting.times[end];
  if (times === undefined) return null;
  const { agents, waitMs } = predicting;
  const costs = costsOf(plan, predicting, end);
  const servers = Array.from({ length: agents }, (_, agent) => {
    return serviceTimes(times, predicting, costs, plan.seed + agent);
  });
  const trial = simulateTrial(plan.options, { limit: plan.limit, waitMs }, servers);
  const { bound } = plan.options;
  const isOpen = plan.options.plan.kind === 'open';
  return figuresOf(summaryOf(trial.records, trial, { bound, servers: agents, isOpen }));
}

/** Closed loops keep an agent as busy as they can. */
function costsOf(plan: TrialPlan, predicting: Predicting, end: keyof EstimatedTimes): Costs {
  return costsAt(predicting.overhead, utilizationOf(plan, predicting.times.value, predicting) ?? 1, end);
}

function utilizationOf(
  plan: TrialPlan,
  times: readonly BatchTime[],
  { overhead, agents }: Predicting,
  slowdown = 1,
): number | null {
  const offered = offeredOf(plan);
  if (offered === null) return null;
  const samples = Math.max(...plan.samples);
  const queries = Math.max(1, Math.floor(plan.limit / samples));
  const busyMs = interpolated(times)(queries * samples) * slowdown + overhead.between_ms;
  return (offered * busyMs) / 1000 / queries / agents;
}

const NOTHING: PredictedLoad = {
  low: null,
  value: null,
  high: null,
  service_ms: null,
  slowdown: null,
  service_low_ms: null,
  service_high_ms: null,
  service_variation: null,
  utilization: null,
  growth: null,
  reason: null,
};

export function predictTrial(plan: TrialPlan, predicting: Predicting): PredictedLoad {
  const { value, high } = predicting.times;
  const [samples = 1] = plan.samples;
  const slowdownAt = (end: keyof EstimatedTimes): number => costsOf(plan, predicting, end).slowdown;
  const serviceAt = (end: keyof EstimatedTimes): number | null => {
    const times = predicting.times[end];
    return times === undefined ? null : interpolated(times)(samples) * slowdownAt(end);
  };
  const { runTimes } = predicting;
  const service = {
    service_ms: serviceAt('value'),
    slowdown: slowdownAt('value'),
    service_low_ms: serviceAt('low'),
    service_high_ms: serviceAt('high'),
    service_variation: runTimes === undefined ? null : variationOf(runTimes),
  };
  const rho = utilizationOf(plan, value, predicting, slowdownAt('value'));
  const worst = utilizationOf(plan, high ?? value, predicting, slowdownAt('high'));
  // Everything at one time fills the queue on purpose.
  if (worst !== null && worst >= 1) {
    const safe = Number(((offeredOf(plan) ?? 0) / worst).toPrecision(3));
    const reason = `the model may be slower than the queries come (utilization ${worst.toPrecision(3)}), and no queue lasts then; rates below ${safe}/s are safe`;
    return { ...NOTHING, ...service, utilization: rho, reason };
  }
  return {
    ...service,
    low: simulated(plan, predicting, 'low'),
    value: simulated(plan, predicting, 'value'),
    high: simulated(plan, predicting, 'high'),
    utilization: rho,
    growth: rho === null ? null : (2 - rho) / (1 - rho),
    reason: null,
  };
}

export function noPrediction(reason: string): PredictedLoad {
  return { ...NOTHING, reason };
}

export type PredictedRate = NonNullable<SearchedRate['predicted']>;

export async function predictRate(
  trialAt: (perSecond: number, seed: number) => TrialPlan,
  startRate: (times: readonly BatchTime[]) => number,
  seed: number,
  predicting: Predicting,
): Promise<PredictedRate> {
  const search = async (end: keyof EstimatedTimes): Promise<number | null> => {
    const times = predicting.times[end];
    if (times === undefined) return null;
    const trial = (perSecond: number, ofTrial: number): Promise<boolean | null> => {
      const plan = trialAt(perSecond, ofTrial);
      return Promise.resolve(simulated(plan, predicting, end)?.holds ?? null);
    };
    return (await largestRate(trial, startRate(times), seed)).passed;
  };
  const rate = await search('value');
  return {
    low_per_second: await search('high'),
    value_per_second: rate,
    high_per_second: await search('low'),
    reason: rate === null ? 'no rate holds the bound: it is too near to the time of a run' : null,
  };
}

export function estimatedCurves({ low, value, high }: EstimatedTimes, sizes: readonly number[]): EstimatedTimes {
  const at = (times: readonly BatchTime[]): readonly BatchTime[] => {
    const ms = interpolated(times);
    return sizes.map((batch) => ({ batch, ms: ms(batch) }));
  };
  return { low: low && at(low), value: at(value), high: high && at(high) };
}
