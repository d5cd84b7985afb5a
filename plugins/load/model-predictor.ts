import { identifySystem, inputBytes, type LoadedModel, PlatformError, sumOf, withBatch } from '../../src/plugin-api.js';
import type { Overhead } from './load-result.js';
import type { Run } from './measure-trials.js';
import { addError, type EstimatedTimes, NO_COSTS, type Predicting, storedEstimates } from './predict.js';
import { buildBenchmark, type Place } from './serve.js';
import { samplesAsked } from './settings.js';
import { bricksOf, MAX_RUN_MS, type Observation, observe, oneLayerLike, Slowness, type StandIn } from './stand-in.js';
import { storedRunTimes, computeVariation } from './stored-runs.js';

/** Pauses in ms that a document shows. */
const SHOWN_PAUSES = [0, 2, 8, 32] as const;

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

  /** By the newest observation, or a first one. */
  async predicting(): Promise<Predicting> {
    return this.#from([this.#seen.at(-1) ?? (await this.#observe())]);
  }

  /** Measures by turns with observations before and after, as long as it, because machines change all the time. */
  async around<T>(measure: () => Promise<T>, durationMs: number): Promise<readonly [T, Predicting]> {
    const before = this.#seen.at(-1) ?? (await this.#observe(durationMs / 2));
    const measured = await measure();
    return [measured, this.#from([before, await this.#observe(durationMs / 2)])];
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
    return {
      ...common,
      times: addError(times, this.#standIn?.error ?? 0),
      costs: newest,
      slowness: new Slowness(known),
    };
  }

  /** undefined where another server answers, of whose machine nothing is known, and after an interruption. */
  async #observe(durationMs?: number): Promise<Observation | undefined> {
    const { place, deployment, tell } = this.run;
    if (deployment !== undefined || place.signal.aborted) return undefined;
    tell('observing the machine', 0, 1, this.loaded.name);
    try {
      const seen = await (this.#standIn === undefined
        ? this.#firstLook(place, durationMs)
        : observe(this.#standIn, place, durationMs));
      if (seen !== undefined) this.#seen.push(seen);
      return seen;
    } catch (error) {
      if (place.signal.aborted) return undefined;
      throw error;
    }
  }

  /** By the model's bricks, or by one layer where the runtime refuses them. */
  async #firstLook(place: Place, durationMs: number | undefined): Promise<Observation | undefined> {
    const [samples = 1] = samplesAsked(this.run.settings);
    const { batch = 1, ms = 1 } = this.times.value.find((time) => time.batch >= samples) ?? {};
    const runMs = (ms * samples) / batch;
    const look = (standIn: StandIn): Promise<Observation | undefined> => {
      this.#standIn = standIn;
      return observe(standIn, place, durationMs);
    };
    try {
      const sized = withBatch(this.loaded, this.run.loadedBatch, samples);
      return await look(await bricksOf(sized, Math.min(1, MAX_RUN_MS / runMs), place));
    } catch (error) {
      if (!(error instanceof PlatformError) || !['model', 'unsupported'].includes(error.code)) throw error;
      return look(await oneLayerLike({ weightBytes: this.weightBytes, runMs }, place));
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
