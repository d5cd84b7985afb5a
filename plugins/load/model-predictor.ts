import {
  identifySystem,
  inputBytes,
  type LoadedModel,
  mean,
  PlatformError,
  wholeBenchmark,
  withSizes,
} from '../../src/plugin-api.js';
import type { Overhead, PredictedLoad } from './load-result.js';
import type { Run } from './measure-trials.js';
import {
  addError,
  computeUtilization,
  type EstimatedTimes,
  NO_COSTS,
  noPrediction,
  type Predicting,
  predictTrial,
  storedEstimates,
  weighTimes,
} from './predict.js';
import { type Place, unlessAborted } from './serve.js';
import { samplesAsked } from './settings.js';
import { leastTrialMs } from './trial-length.js';
import {
  bricksOf,
  MAX_RUN_MS,
  type Observation,
  observe,
  type ObservedLoad,
  oneLayerLike,
  Slowness,
  type StandIn,
} from './stand-in.js';
import { storedRunTimes, computeVariation } from './stored-runs.js';
import { scheduledMs, type TrialPlan } from './trials.js';

/** Pauses in ms that a document shows. */
const SHOWN_PAUSES = [0, 2, 8, 32] as const;

/** Of a stand-in before a search, about as much as at the rates that are found. */
const SEARCH_UTILIZATION = 0.6;

/**
 * Times of stand-ins that have all of a model's work, over those of their models: mean, and 95 % (docs/load.md). What a
 * stand-in has besides takes up to 0.3 ms, which is much of a short run.
 */
const WHOLE_RATIO = 1.024;
const WHOLE_ERROR = 0.04;
const WHOLE_ERROR_MS = 0.3;

function meanOf(observations: readonly Observation[], of: (one: Observation) => number): number {
  return mean(observations.map(of));
}

/** Predicts trials of one model, from its estimates and from runs of a stand-in on the machine. */
export class ModelPredictor {
  readonly #seen: Observation[] = [];
  #standIn: StandIn | undefined;

  constructor(
    private readonly loaded: LoadedModel,
    readonly times: EstimatedTimes,
    private readonly runTimes: readonly number[] | undefined,
    private readonly weightBytes: number,
    private readonly run: Run,
  ) {}

  /** @param plan undefined for a search */
  async predicting(plan: TrialPlan | undefined): Promise<Predicting> {
    return this.#from([await this.#before({ ...this.#loadOf(plan), durationMs: undefined })]);
  }

  /** Measures by turns with observations before and after, as long as it, because machines change all the time. */
  async around<T>(plan: TrialPlan | undefined, measure: () => Promise<T>): Promise<readonly [T, Predicting]> {
    const load = this.#loadOf(plan);
    const before = await this.#before(load);
    const measured = await measure();
    return [measured, this.#from([before, await this.#observe(load)])];
  }

  /** From all observations, of one or more searches. */
  afterAll(): Predicting {
    return this.#from(this.#seen);
  }

  #loadOf(plan: TrialPlan | undefined): ObservedLoad {
    const { agents, settings } = this.run;
    if (plan === undefined) {
      return { utilization: SEARCH_UTILIZATION, durationMs: leastTrialMs(settings, 0) / 2 };
    }
    const utilization = computeUtilization(plan, this.times.value, { costs: NO_COSTS, agents }) ?? undefined;
    return { utilization, durationMs: scheduledMs(plan) / 2 };
  }

  /** Pauses of many lengths fit all loads, and need not be observed again. */
  async #before(load: ObservedLoad): Promise<Observation | undefined> {
    return (load.utilization === undefined ? this.#seen.at(-1) : undefined) ?? this.#observe(load);
  }

  overhead(): readonly Overhead[] {
    if (this.#seen.length === 0) return [];
    const slowness = new Slowness(this.#seen);
    const pauses = SHOWN_PAUSES.map((pause) => {
      const all = slowness.after(pause);
      return { pause_ms: pause, slowdown: mean(all), variation: computeVariation(all) };
    });
    return [
      {
        model: this.loaded.name,
        weight_bytes: this.weightBytes,
        run_ms: slowness.undisturbedMs,
        handover_ms: meanOf(this.#seen, ({ handoverMs }) => handoverMs),
        return_ms: this.#seen.some(({ returnMs }) => returnMs === undefined)
          ? null
          : meanOf(this.#seen, (one) => one.returnMs ?? 0),
        between_ms: meanOf(this.#seen, ({ betweenMs }) => betweenMs),
        pauses,
      },
    ];
  }

  #from(observations: readonly (Observation | undefined)[]): Predicting {
    const { times, runTimes, run } = this;
    const known = observations.flatMap((one) => one ?? []);
    const common = { agents: run.agents, waitMs: run.settings.max_wait_ms };
    if (known.length === 0) return { ...common, times, costs: NO_COSTS, runTimes };
    const slowness = new Slowness(known);
    const { error = 0, isWhole = false } = this.#standIn ?? {};
    const [batch = 1] = samplesAsked(run.settings);
    const ms = slowness.undisturbedMs / WHOLE_RATIO;
    const seen = { batch, ms, error: Math.hypot(WHOLE_ERROR, WHOLE_ERROR_MS / ms) };
    // The estimate is of another minute.
    const weighed = isWhole ? weighTimes(addError(times, slowness.drift()), seen) : times;
    return {
      ...common,
      times: addError(weighed, error),
      costs: {
        handoverMs: meanOf(known, ({ handoverMs }) => handoverMs),
        returnMs: meanOf(known, ({ returnMs }) => returnMs ?? 0),
        betweenMs: meanOf(known, ({ betweenMs }) => betweenMs),
      },
      slowness,
    };
  }

  /** undefined where another server answers, of whose machine nothing is known, and after an interruption. */
  async #observe(load: ObservedLoad): Promise<Observation | undefined> {
    const { place, deployment, tell } = this.run;
    if (deployment !== undefined || place.signal.aborted) return undefined;
    tell('observing the machine', 0, 1, this.loaded.name);
    const looking = this.#standIn === undefined ? this.#firstLook(place, load) : observe(this.#standIn, place, load);
    const seen = await unlessAborted(place.signal, looking);
    if (seen !== undefined) this.#seen.push(seen);
    return seen;
  }

  /** By the model's bricks, or by one layer where the runtime refuses them. */
  async #firstLook(place: Place, load: ObservedLoad): Promise<Observation | undefined> {
    const [samples = 1] = samplesAsked(this.run.settings);
    const { batch = 1, ms = 1 } = this.times.value.find((time) => time.batch >= samples) ?? {};
    const runMs = (ms * samples) / batch;
    const look = (standIn: StandIn): Promise<Observation | undefined> => {
      this.#standIn = standIn;
      return observe(standIn, place, load);
    };
    try {
      const sized = withSizes(this.loaded, this.run.loadedBatch, { batch: samples });
      return await look(await bricksOf(sized, Math.min(1, MAX_RUN_MS / runMs), place));
    } catch (error) {
      if (!(error instanceof PlatformError) || !['model', 'unsupported'].includes(error.code)) throw error;
      return look(await oneLayerLike({ weightBytes: this.weightBytes, runMs }, place));
    }
  }
}

/** Predicts a model, or says why not; null where nobody asks for it. */
export async function createPredictor(
  loaded: LoadedModel,
  sizes: readonly number[],
  run: Run,
): Promise<ModelPredictor | { readonly reason: string } | null> {
  const { settings, loadedBatch, context, place } = run;
  if (!settings.predict) return null;
  const system = identifySystem(place.agent.description, place.runOptions);
  const times = await storedEstimates(loaded, loadedBatch, sizes, system, context.store, run.given);
  if ('reason' in times) {
    context.onEvent({ kind: 'note', level: 'warning', message: `${loaded.name}: ${times.reason}` });
    return times;
  }
  const [samples = 1] = samplesAsked(settings);
  const { signature, inputs } = await wholeBenchmark(withSizes(loaded, loadedBatch, { batch: samples }), place.agent);
  const runTimes = await storedRunTimes(signature, system, context.store);
  return new ModelPredictor(loaded, times, runTimes, inputBytes(inputs, 'weight'), run);
}

export type Source = Awaited<ReturnType<typeof createPredictor>>;

export function predictPlan(plan: TrialPlan, source: Source, predicting: Predicting | undefined): PredictedLoad | null {
  if (source !== null && 'reason' in source) return noPrediction(source.reason);
  return predicting === undefined ? null : predictTrial(plan, predicting);
}

export async function byTurns<T>(
  predictor: ModelPredictor | undefined,
  plan: TrialPlan | undefined,
  measure: () => Promise<T>,
): Promise<readonly [T, Predicting | undefined]> {
  return predictor === undefined ? [await measure(), undefined] : predictor.around(plan, measure);
}
