import {
  counted,
  type BatchTime,
  currentEstimates,
  dimensionsText,
  interpolated,
  type KeptEstimate,
  largestRate,
  type LoadedModel,
  type RanTrial,
  type RateTrial,
  type ResultStore,
  type ServiceTimes,
  shellQuoted,
  signatureWithoutName,
  simulateTrial,
  sumOf,
  summarizeTrial,
  type System,
  withSizes,
  xoshiro128pp,
  Z_95,
  maxOf,
} from '../../src/plugin-api.js';
import type { Figures, PredictedLoad, SearchedRate } from './load-result.js';
import { selectFigures } from './figures.js';
import { type Observation, observeTrials, quantile, type Sampler, Slowness } from './stand-in.js';
import { computeVariation } from './stored-runs.js';
import { TRIALS_OF_SEARCH } from './trial-length.js';
import { computeOfferedRate, type TrialPlan } from './trials.js';

export interface EstimatedTimes {
  readonly low: readonly BatchTime[] | undefined;
  readonly value: readonly BatchTime[];
  readonly high: readonly BatchTime[] | undefined;
}

/** What a query costs besides the model's run. */
export type Costs = Pick<Observation, 'handoverMs' | 'returnMs' | 'betweenMs'>;

export const NO_COSTS: Costs = { handoverMs: 0, returnMs: 0, betweenMs: 0 };

export interface Predicting {
  readonly times: EstimatedTimes;
  readonly costs: Costs;
  readonly agents: number;
  readonly waitMs: number;
  /** Slowdowns of a stand-in of the model; undefined: runs are as long as estimated. */
  readonly slowness?: Slowness | undefined;
  /** Times of the model's runs over their mean, which give runs a variance where no stand-in does. */
  readonly runTimes?: readonly number[] | undefined;
}

const MAX_LISTED = 8;

/** Sizes whose estimates give those of all runs: the ends, and powers of two between them. */
function sizesNeeded(sizes: readonly number[]): readonly number[] {
  if (sizes.length <= MAX_LISTED) return sizes;
  const last = sizes.length - 1;
  return sizes.filter((size, index) => index === 0 || index === last || Number.isInteger(Math.log2(size)));
}

function referenceOf({ name, reference, source }: LoadedModel): string {
  if (reference !== undefined || source === undefined) return reference ?? name;
  return source.kind === 'zoo' ? `zoo:${source.name}` : source.path;
}

/**
 * The newest complete estimates of dlbricks for a model on a system, by the size of the batch.
 *
 * @param given further options of the command that makes them
 */
export async function storedEstimates(
  loaded: LoadedModel,
  bound: number,
  sizes: readonly number[],
  system: System,
  store: ResultStore,
  given: readonly string[] = [],
): Promise<EstimatedTimes | { readonly reason: string }> {
  const current = await currentEstimates(store);
  const found = new Map<number, KeptEstimate>();
  const missing: number[] = [];
  for (const batch of sizesNeeded(sizes)) {
    const rebound = withSizes(loaded, bound, { batch });
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
    const batches = missing.join(',');
    const { threads } = system.runOptions;
    const options = ['--batch', batches, '--threads', String(threads), ...given];
    const command = `mlmodelscope dlbricks run ${[referenceOf(loaded), ...options].map(shellQuoted).join(' ')}`;
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

/** One way how a trial may go. */
interface Drawn {
  /** Place in the estimate's interval: 0 is its lower end, 1/2 the estimate, 1 its upper end. */
  readonly position: number;
  readonly seed: number;
}

function timesAt({ low, value, high }: EstimatedTimes, position: number): readonly BatchTime[] {
  const end = (position < 0.5 ? low : high) ?? value;
  const share = Math.abs(2 * position - 1);
  return value.map(({ batch, ms }, index) => ({ batch, ms: ms + share * ((end[index]?.ms ?? ms) - ms) }));
}

/** The times with an interval that has a further error, independent of the estimate's, in quadrature. */
export function addError({ low, value, high }: EstimatedTimes, share: number): EstimatedTimes {
  const widened = (ends: readonly BatchTime[], sign: -1 | 1): readonly BatchTime[] =>
    value.map(({ batch, ms }, index) => ({
      batch,
      ms: Math.max(0, ms + sign * Math.hypot((ends[index]?.ms ?? ms) - ms, share * ms)),
    }));
  return { low: low && widened(low, -1), value, high: high && widened(high, 1) };
}

/** Another estimate of one time, with half the width of its interval, relative. */
export interface FurtherEstimate extends BatchTime {
  readonly error: number;
}

/**
 * The times with a further estimate, independent of them: the mean of the logarithms, weighted by their precision. Where
 * the two contradict each other, the interval is as much wider (Birge's ratio). Other batches are shifted as much.
 */
export function weighTimes({ low, value, high }: EstimatedTimes, further: FurtherEstimate): EstimatedTimes {
  const index = value.findIndex(({ batch }) => batch === further.batch);
  const [own, lowest, highest] = [value, low, high].map((times) => times?.[index]?.ms);
  if (own === undefined || lowest === undefined || highest === undefined || lowest <= 0) return { low, value, high };
  const ownError = Math.log(highest / lowest) / 2;
  const total = Math.hypot(ownError, further.error);
  const difference = Math.log(further.ms / own);
  const factor = Math.exp(difference * (ownError / total) ** 2);
  const contradiction = Math.max(1, Math.abs(difference) / total);
  const narrowing = (further.error / total) * contradiction;
  const shifted = (ends: readonly BatchTime[] | undefined, narrowed = 1): readonly BatchTime[] | undefined =>
    ends?.map(({ batch, ms }, at) => {
      const middle = value[at]?.ms ?? ms;
      return { batch, ms: factor * middle * (ms / middle) ** (at === index ? narrowed : 1) };
    });
  return { low: shifted(low, narrowing), value: shifted(value) ?? value, high: shifted(high, narrowing) };
}

/** Times of one server's runs, with the pauses between them. */
class Server implements ServiceTimes {
  readonly returnMs: number;
  readonly betweenMs: number;
  readonly #drawn: Sampler;
  readonly #estimate: (samples: number) => number;
  #finishedMs = 0;
  estimatedMs = 0;
  ranMs = 0;

  constructor(times: readonly BatchTime[], { costs, slowness, runTimes = [1] }: Predicting, seed: number) {
    this.returnMs = costs.returnMs ?? 0;
    this.betweenMs = costs.betweenMs;
    const next = xoshiro128pp(seed);
    this.#drawn = slowness?.sampler(seed) ?? {
      slowdown: () => runTimes[next() % runTimes.length] ?? 1,
      handoverMs: () => costs.handoverMs,
    };
    this.#estimate = interpolated(times);
  }

  readonly handoverMs = (sentMs: number): number => this.#drawn.handoverMs(sentMs, sentMs - this.#finishedMs);

  readonly runMs = (samples: number, startMs: number): number => {
    const ms = this.#estimate(samples);
    const ran = ms * this.#drawn.slowdown(startMs, startMs - this.#finishedMs);
    this.#finishedMs = startMs + ran;
    this.estimatedMs += ms;
    this.ranMs += ran;
    return ran;
  };
}

function simulated(plan: TrialPlan, predicting: Predicting, { position, seed }: Drawn) {
  const times = timesAt(predicting.times, position);
  const { agents, waitMs } = predicting;
  const servers = Array.from({ length: agents }, (_, agent) => new Server(times, predicting, seed + agent));
  const trial = simulateTrial(plan.options, { limit: plan.options.limit, waitMs }, servers);
  const { bound } = plan.options;
  const isOpen = plan.options.plan.kind === 'open';
  const summary = summarizeTrial(trial.records, trial, { bound, servers: agents, isOpen });
  const estimatedMs = sumOf(servers.map((one) => one.estimatedMs));
  const ranMs = sumOf(servers.map((one) => one.ranMs));
  return {
    figures: selectFigures(summary),
    /** Time of all runs over their estimates. */
    slowdown: ranMs / estimatedMs,
    variation: summary.serviceVariation,
    /** Why it ended early. */
    cut: 'reason' in trial.end ? trial.end.reason : null,
  };
}

export function computeUtilization(
  plan: TrialPlan,
  times: readonly BatchTime[],
  { costs, slowness, agents }: Pick<Predicting, 'costs' | 'slowness' | 'agents'>,
): number | null {
  const offered = computeOfferedRate(plan);
  if (offered === null) return null;
  const samples = maxOf(plan.samples);
  const queries = Math.max(1, Math.floor(plan.options.limit / samples));
  // Near saturation there are no pauses.
  const means = slowness?.denseMeans() ?? [1];
  const slowdown = sumOf(means) / means.length;
  const busyMs = interpolated(times)(queries * samples) * slowdown + costs.betweenMs;
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

/** Ways to go that a prediction is made from, and the queries of all of them together. */
const MAX_DRAWN = 40;
const MAX_QUERIES = 400_000;

/** A prediction's interval has this share of the ways to go in its middle. */
const CONFIDENCE = 0.95;
const SHARES = { low: (1 - CONFIDENCE) / 2, value: 0.5, high: (1 + CONFIDENCE) / 2 } as const;

function drawnWays(plan: TrialPlan, { slowness, runTimes }: Predicting, trials = 1): readonly Drawn[] {
  const { seed, plan: asked } = plan.options;
  if (slowness === undefined && runTimes === undefined) return [0, 0.5, 1].map((position) => ({ position, seed }));
  const queries = asked.kind === 'open' ? asked.arrivals.length : asked.queries;
  const count = Math.max(5, Math.min(MAX_DRAWN, Math.floor(MAX_QUERIES / queries / trials)));
  return Array.from({ length: count }, (_, index) => ({ position: (index + 0.5) / count, seed: seed + 1000 * index }));
}

function figuresAt(all: readonly Figures[], share: number): Figures {
  const at = (of: (figures: Figures) => number | null): number | null => {
    const known = all.flatMap((one) => of(one) ?? []);
    return known.length < all.length ? null : quantile(known, share);
  };
  const broken = at(({ holds }) => (holds === null ? null : Number(!holds)));
  return {
    p50_ms: at((one) => one.p50_ms),
    p90_ms: at((one) => one.p90_ms),
    p95_ms: at((one) => one.p95_ms),
    p99_ms: at((one) => one.p99_ms),
    p999_ms: at((one) => one.p999_ms),
    samples_per_second: at((one) => one.samples_per_second),
    holds: broken === null ? null : broken === 0,
  };
}

/**
 * What a trial would show. It is simulated many times, with times from the estimate's whole interval and with the
 * stand-in's slowdowns in another order each time; the interval has 95 % of the outcomes.
 */
export function predictTrial(plan: TrialPlan, predicting: Predicting): PredictedLoad {
  const { times, slowness, runTimes } = predicting;
  const rho = computeUtilization(plan, times.value, predicting);
  const worst = computeUtilization(plan, times.high ?? times.value, predicting);
  // Everything at one time fills the queue on purpose.
  if (worst !== null && worst >= 1) {
    const safe = Number(((computeOfferedRate(plan) ?? 0) / worst).toPrecision(3));
    const reason = `the model may be slower than the queries come (utilization ${worst.toPrecision(3)}), and no queue lasts then; rates below ${safe}/s are safe`;
    return { ...NOTHING, utilization: rho, reason };
  }
  const ways = drawnWays(plan, predicting);
  const all = ways.map((way) => simulated(plan, predicting, way));
  const [samples = 1] = plan.samples;
  const slowdowns = all.map((one) => one.slowdown);
  const services = all.map((one, index) => {
    return interpolated(timesAt(times, ways[index]?.position ?? 0.5))(samples) * one.slowdown;
  });
  const variations = all.flatMap(({ variation }) => variation ?? []);
  const hasInterval = times.low !== undefined && times.high !== undefined;
  const figures = all.map((one) => one.figures);
  const cuts = all.flatMap(({ cut }) => cut ?? []);
  return {
    low: hasInterval ? figuresAt(figures, SHARES.low) : null,
    value: figuresAt(figures, SHARES.value),
    high: hasInterval ? figuresAt(figures, SHARES.high) : null,
    service_ms: quantile(services, SHARES.value),
    slowdown: quantile(slowdowns, SHARES.value),
    service_low_ms: hasInterval ? quantile(services, SHARES.low) : null,
    service_high_ms: hasInterval ? quantile(services, SHARES.high) : null,
    service_variation: slowness === undefined && runTimes === undefined ? null : quantile(variations, SHARES.value),
    utilization: rho,
    growth: rho === null ? null : (2 - rho) / (1 - rho),
    reason:
      cuts[0] === undefined
        ? null
        : `${cuts.length} of ${counted(all.length, 'simulated trial is', 'simulated trials are')} cut off: ${cuts[0]}`,
  };
}

export function noPrediction(reason: string): PredictedLoad {
  return { ...NOTHING, reason };
}

export type PredictedRate = NonNullable<SearchedRate['predicted']>;

export const NO_RATE = { low_per_second: null, value_per_second: null, high_per_second: null } as const;

export interface SearchToSimulate {
  readonly trialAt: (perSecond: number, seed: number) => TrialPlan;
  readonly startRate: (times: readonly BatchTime[]) => number;
  /** Of the first trial's schedule. */
  readonly seed: number;
}

/** The rates that a search finds in each of several ways; null where one finds none. */
function searchedRates(
  { trialAt, startRate, seed }: SearchToSimulate,
  predicting: Predicting,
  seedOf: (way: Drawn) => number,
): readonly number[] | null {
  const { times } = predicting;
  const rates = drawnWays(trialAt(startRate(times.value), seed), predicting, TRIALS_OF_SEARCH).map((way) => {
    const holds = ({ perSecond, seed: ofTrial }: RateTrial): boolean | null => {
      const drawn = { ...way, seed: way.seed + ofTrial };
      return simulated(trialAt(perSecond, ofTrial), predicting, drawn).figures.holds;
    };
    return largestRate(holds, startRate(timesAt(times, way.position)), seedOf(way)).passed;
  });
  const found = rates.flatMap((rate) => rate ?? []);
  return found.length < rates.length ? null : found;
}

/** As many ways as of a trial, each of which is a search with the schedules of the measured one. */
export function predictRate(search: SearchToSimulate, predicting: Predicting): PredictedRate {
  const rates = searchedRates(search, predicting, () => search.seed);
  if (rates === null) return { ...NO_RATE, reason: 'no rate holds the bound: it is too near to the time of a run' };
  const { low, high } = predicting.times;
  const hasInterval = low !== undefined && high !== undefined;
  return {
    low_per_second: hasInterval ? quantile(rates, SHARES.low) : null,
    value_per_second: quantile(rates, SHARES.value),
    high_per_second: hasInterval ? quantile(rates, SHARES.high) : null,
    reason: null,
  };
}

/**
 * How far searches differ by chance: half the width of 95 %, relative. Searches with other schedules are simulated with
 * what the trials of one showed; undefined where it is not known.
 */
export function chanceOfSearch(search: SearchToSimulate, agents: number, trials: readonly RanTrial[]) {
  const seen = observeTrials(trials);
  if (seen.blocks.length === 0) return undefined;
  const slowness = new Slowness([seen]);
  const [batch = 1] = search.trialAt(1, search.seed).samples;
  const value = [{ batch, ms: slowness.undisturbedMs }];
  const predicting = { times: { low: value, value, high: value }, costs: seen, agents, waitMs: 0, slowness };
  const rates = searchedRates(search, predicting, (way) => way.seed);
  return rates === null ? undefined : Z_95 * computeVariation(rates);
}

export function estimatedCurves({ low, value, high }: EstimatedTimes, sizes: readonly number[]): EstimatedTimes {
  const at = (times: readonly BatchTime[]): readonly BatchTime[] => {
    const ms = interpolated(times);
    return sizes.map((batch) => ({ batch, ms: ms(batch) }));
  };
  return { low: low && at(low), value: at(value), high: high && at(high) };
}
