import {
  type Benchmark,
  type BenchmarkAgent,
  disturbanceOf,
  type EvaluationEvent,
  isTakenAgain,
  isTakenAgainWhileQuiet,
  isUnderLoad,
  keepWholeModel,
  type Limits,
  type LoadedModel,
  type Measurement,
  type MeasureRequest,
  otherLoadOf,
  PlatformError,
  type Protocol,
  type Remeasure,
  type ResultStore,
  runOptionsOf,
  setupKey,
  weightlessBenchmark,
  withOwnWeights,
} from '../../src/plugin-api.js';

/** A model to time. */
export interface WholeModel {
  readonly loaded: LoadedModel;
  readonly batch: number;
  readonly threads: number;
}

export interface TimingSettings {
  readonly protocol: Protocol;
  readonly limits: Limits;
  /** Which stored measurements are taken again. */
  readonly remeasure: Remeasure;
}

export interface TimingContext {
  readonly agent: BenchmarkAgent;
  readonly store: ResultStore;
  readonly signal: AbortSignal;
  readonly onEvent: (event: EvaluationEvent) => void;
}

/** A model as it was timed, now or before. */
export interface TimedModel extends WholeModel {
  /** undefined where an interruption came first. */
  readonly measurement: Measurement | undefined;
}

/** Between two events of one measurement. */
const RUNNING_INTERVAL_MS = 500;

interface Task extends WholeModel {
  readonly request: MeasureRequest;
  /** What the store has. */
  readonly known: Measurement | undefined;
}

const OCCASION = 1;

async function benchmarkOf({ model, weights }: LoadedModel, agent: BenchmarkAgent): Promise<Benchmark> {
  const filled = weightlessBenchmark(model);
  return (await withOwnWeights(filled, weights, agent)) ?? filled;
}

/** What is to be measured, with what the store has of it. */
async function tasksOf(
  models: readonly WholeModel[],
  { protocol, limits }: TimingSettings,
  { agent, store }: TimingContext,
): Promise<readonly Task[]> {
  const setup = { protocol, occasion: OCCASION };
  const tasks: Task[] = [];
  for (const model of models) {
    const runOptions = runOptionsOf(model.threads);
    const benchmark = await benchmarkOf(model.loaded, agent);
    const { fingerprint } = await agent.system(runOptions);
    const stored = await store.findMeasurements([benchmark.signature], fingerprint, setupKey(setup));
    const known = stored.get(benchmark.signature);
    const request = { benchmark, runOptions, ...setup, limits };
    tasks.push({ ...model, request, known: known?.outcome.kind === 'samples' ? known : undefined });
  }
  return tasks;
}

function labelOf({ loaded, batch, threads }: WholeModel): string {
  return `${loaded.name}, batch ${batch}, ${threads} ${threads === 1 ? 'thread' : 'threads'}`;
}

/** Whether a measurement may replace another one: samples replace a failure, and what was disturbed less replaces. */
function isBetter(measurement: Measurement, than: Measurement): boolean {
  if (measurement.outcome.kind === 'failure') return false;
  return than.outcome.kind === 'failure' || disturbanceOf(measurement) < disturbanceOf(than);
}

/** Measures one model after another, and counts. */
class Timing {
  readonly #startMs = performance.now();
  #done = 0;

  constructor(
    private readonly context: TimingContext,
    private readonly total: number,
  ) {}

  /** Measures a model, and again where other processes disturbed it. */
  async time(task: Task): Promise<Measurement | undefined> {
    const { onEvent, signal } = this.context;
    const first = await this.#measure(task);
    if (first === undefined || !isUnderLoad(first) || signal.aborted) {
      this.#done++;
      return first;
    }
    const share = (otherLoadOf(first) * 100).toFixed(0);
    const message = `timing ${labelOf(task)} again: other processes took ${share} % of the processors' time meanwhile`;
    onEvent({ kind: 'note', level: 'info', message });
    const second = await this.#measure(task);
    this.#done++;
    return second !== undefined && isBetter(second, first) ? second : first;
  }

  async #measure(task: Task): Promise<Measurement | undefined> {
    const { agent, signal } = this.context;
    let toldMs = performance.now();
    const onProgress = ({ runsDone, runsTotal }: { readonly runsDone: number; readonly runsTotal: number }): void => {
      if (performance.now() - toldMs < RUNNING_INTERVAL_MS) return;
      toldMs = performance.now();
      this.#tell(`${labelOf(task)} (run ${runsDone} of ${runsTotal})`, runsTotal === 0 ? 0 : runsDone / runsTotal);
    };
    this.#tell(labelOf(task), 0);
    try {
      for await (const { measurement } of agent.measure([task.request], { signal, onProgress })) return measurement;
    } catch (error) {
      if (!(error instanceof PlatformError && error.code === 'cancelled')) throw error;
    }
    return undefined;
  }

  /** @param share of the current model */
  #tell(label: string, share: number): void {
    const done = this.#done + share;
    const elapsedSeconds = (performance.now() - this.#startMs) / 1000;
    const secondsLeft = done === 0 ? undefined : ((this.total - done) / done) * elapsedSeconds;
    const event = { kind: 'measuring', done: this.#done, total: this.total, label } as const;
    this.context.onEvent(secondsLeft === undefined ? event : { ...event, secondsLeft });
  }
}

/**
 * Times whole models that the store does not have, and stores each at once. A model that fails is a result.
 *
 * @returns the models in their order; where an interruption came, some without a measurement
 * @throws PlatformError where the agent or the store fails
 */
export async function timeModels(
  models: readonly WholeModel[],
  settings: TimingSettings,
  context: TimingContext,
): Promise<readonly TimedModel[]> {
  const { store, signal, onEvent } = context;
  const { remeasure } = settings;
  const tasks = await tasksOf(models, settings, context);
  const isMissing = ({ known }: Task): boolean => {
    return known === undefined || isTakenAgain(known, remeasure) || isTakenAgainWhileQuiet(known, remeasure);
  };
  const toMeasure = tasks.filter(isMissing).length;
  const known = tasks.length - toMeasure;
  const summary = `whole models: ${toMeasure} to time, ${known} known already`;
  onEvent({ kind: 'planned', summary, known, toMeasure });
  const timing = new Timing(context, toMeasure);
  const timed: TimedModel[] = [];
  for (const task of tasks) {
    const taken = isMissing(task) && !signal.aborted ? await timing.time(task) : undefined;
    const isKept =
      taken !== undefined &&
      (task.known === undefined || isTakenAgain(task.known, remeasure) || isBetter(taken, task.known));
    const isLoss = taken?.outcome.kind === 'failure' && task.known !== undefined;
    if (isKept && !isLoss) await store.putMeasurement(taken);
    const measurement = isKept && !isLoss ? taken : task.known;
    const { loaded, batch, threads } = task;
    if (measurement !== undefined) {
      await keepWholeModel(store, { name: loaded.name, batchSize: batch, measurement });
    }
    timed.push({ loaded, batch, threads, measurement });
  }
  return timed;
}
