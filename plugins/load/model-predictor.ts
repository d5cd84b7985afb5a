import {
  identifySystem,
  inputBytes,
  type LoadedModel,
  sumOf,
  withBatch,
  type Benchmark,
} from '../../src/plugin-api.js';
import type { Overhead } from './load-result.js';
import type { Run } from './measure-trials.js';
import {
  addError,
  type EstimatedTimes,
  NO_COSTS,
  type Predicting,
  STAND_IN_ERROR,
  storedEstimates,
} from './predict.js';
import { buildBenchmark } from './serve.js';
import { samplesAsked } from './settings.js';
import { type Observation, observe, Slowness, standInFor } from './stand-in.js';
import { storedRunTimes, computeVariation } from './stored-runs.js';

/** Pauses in ms that a document shows. */
const SHOWN_PAUSES = [0, 2, 8, 32] as const;

/** Predicts trials of one model, from its estimates and from runs of a stand-in on the machine. */
export class ModelPredictor {
  readonly #seen: Observation[] = [];
  #standIn: Benchmark | undefined;

  constructor(
    private readonly loaded: LoadedModel,
    readonly times: EstimatedTimes,
    private readonly runTimes: readonly number[] | undefined,
    private readonly weightBytes: number,
    private readonly run: Run,
  ) {}

  /** By the newest observation, or a first one. */
  async predicting(): Promise<Predicting> {
    return this.#from([this.#seen.at(-1) ?? (await this.#observe())]);
  }

  /** Measures by turns with observations before and after, because machines change from minute to minute. */
  async around<T>(measure: () => Promise<T>): Promise<readonly [T, Predicting]> {
    const before = this.#seen.at(-1) ?? (await this.#observe());
    const measured = await measure();
    return [measured, this.#from([before, await this.#observe()])];
  }

  overhead(): readonly Overhead[] {
    if (this.#seen.length === 0) return [];
    const slowness = new Slowness(this.#seen);
    const mean = (of: (one: Observation) => number): number => sumOf(this.#seen.map(of)) / this.#seen.length;
    const pauses = SHOWN_PAUSES.map((pause) => {
      const all = slowness.after(pause);
      return { pause_ms: pause, slowdown: sumOf(all) / all.length, variation: computeVariation(all) };
    });
    return [
      {
        model: this.loaded.name,
        weight_bytes: this.weightBytes,
        run_ms: slowness.undisturbedMs,
        handover_ms: mean(({ handoverMs }) => handoverMs),
        return_ms: mean(({ returnMs }) => returnMs),
        between_ms: mean(({ betweenMs }) => betweenMs),
        pauses,
      },
    ];
  }

  #from(observations: readonly (Observation | undefined)[]): Predicting {
    const { times, runTimes, run } = this;
    const known = observations.flatMap((one) => one ?? []);
    const common = { agents: run.agents, waitMs: run.settings.max_wait_ms };
    const newest = known.at(-1);
    if (newest === undefined) return { ...common, times, costs: NO_COSTS, runTimes };
    return { ...common, times: addError(times, STAND_IN_ERROR), costs: newest, slowness: new Slowness(known) };
  }

  /** undefined where another server answers, of whose machine nothing is known, and after an interruption. */
  async #observe(): Promise<Observation | undefined> {
    const { place, settings, deployment, tell } = this.run;
    if (deployment !== undefined || place.signal.aborted) return undefined;
    const [samples = 1] = samplesAsked(settings);
    const { batch = 1, ms = 1 } = this.times.value.find((time) => time.batch >= samples) ?? {};
    tell('observing the machine', 0, 1, this.loaded.name);
    try {
      const like = { weightBytes: this.weightBytes, runMs: (ms * samples) / batch };
      this.#standIn ??= await standInFor(like, place);
      const seen = await observe(this.#standIn, place);
      if (seen !== undefined) this.#seen.push(seen);
      return seen;
    } catch (error) {
      if (place.signal.aborted) return undefined;
      throw error;
    }
  }
}

/** Predicts a model, or says why not; null where nobody asks for it. */
export async function predictorOf(
  loaded: LoadedModel,
  sizes: readonly number[],
  run: Run,
): Promise<ModelPredictor | { readonly reason: string } | null> {
  const { settings, loadedBatch, context, place } = run;
  if (!settings.predict) return null;
  const system = identifySystem(place.agent.description, place.runOptions);
  const times = await storedEstimates(loaded, loadedBatch, sizes, system, context.store);
  if ('reason' in times) {
    context.onEvent({ kind: 'note', level: 'warning', message: `${loaded.name}: ${times.reason}` });
    return times;
  }
  const [samples = 1] = samplesAsked(settings);
  const { signature, inputs } = await buildBenchmark(withBatch(loaded, loadedBatch, samples), place.agent);
  const runTimes = await storedRunTimes(signature, system, context.store);
  return new ModelPredictor(loaded, times, runTimes, inputBytes(inputs, 'weight'), run);
}
