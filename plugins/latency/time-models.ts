import {
  type Benchmark,
  type BenchmarkAgent,
  counted,
  dimensionsText,
  distinctTasks,
  identifySystem,
  keepWholeModel,
  KnownResults,
  type Limits,
  type LoadedModel,
  type Measurement,
  Measuring,
  type MeasuringContext,
  type Phase,
  phaseOf,
  type Protocol,
  type Remeasure,
  RunProgress,
  runOptionsOf,
  type System,
  type Task,
  weightlessBenchmark,
  withOwnWeights,
} from '../../src/plugin-api.js';

/** A model to time. */
export interface ModelToTime {
  readonly loaded: LoadedModel;
  readonly batch: number;
  readonly threads: number;
}

export interface TimingSettings {
  readonly protocol: Protocol;
  readonly limits: Limits;
  /** The stored measurements to take again. */
  readonly remeasure: Remeasure;
  /** Address of a trace on a tracing server; by default as the environment says. */
  readonly traceUrlTemplate?: string | undefined;
}

/** A model as it was timed, now or before. */
export interface TimedModel extends ModelToTime {
  /** undefined where the run was interrupted before it. */
  readonly measurement: Measurement | undefined;
  /** Whether an earlier run took the measurement. */
  readonly isStored: boolean;
}

/** The models with one number of threads, which are one system to the store. */
interface Series {
  readonly system: System;
  readonly tasks: ReadonlyMap<ModelToTime, Task>;
  readonly phase: Phase;
  readonly results: KnownResults;
}

async function benchmarkOf({ model, weights }: LoadedModel, agent: BenchmarkAgent): Promise<Benchmark> {
  const filled = weightlessBenchmark(model);
  return (await withOwnWeights(filled, weights, agent)) ?? filled;
}

async function taskOf(
  { loaded, batch, threads }: ModelToTime,
  { protocol, limits }: TimingSettings,
  agent: BenchmarkAgent,
): Promise<Task> {
  const benchmark = await benchmarkOf(loaded, agent);
  const request = {
    benchmark,
    name: loaded.name,
    runOptions: runOptionsOf(threads, agent.description),
    protocol,
    limits,
    occasion: 1,
  };
  const label = `${loaded.name}, batch ${batch}, ${counted(threads, 'thread')}`;
  return { label, request, work: 1 };
}

/** Looks up the stored measurements of models with one number of threads. */
async function seriesOf(
  models: readonly ModelToTime[],
  threads: number,
  settings: TimingSettings,
  { agent, store }: MeasuringContext,
): Promise<Series> {
  const tasks = new Map<ModelToTime, Task>();
  for (const model of models) tasks.set(model, await taskOf(model, settings, agent));
  const system = identifySystem(agent.description, runOptionsOf(threads, agent.description));
  const results = new KnownResults();
  const phase = await phaseOf(distinctTasks(tasks.values()), results, { system, store, remeasure: settings.remeasure });
  return { system, tasks, phase, results };
}

/**
 * Times whole models that the store does not have, and stores each at once. A model that fails is a result.
 *
 * @returns the models in their order; after an interruption, some have no measurement
 * @throws PlatformError where the agent or the store fails
 */
export async function timeModels(
  models: readonly ModelToTime[],
  settings: TimingSettings,
  context: MeasuringContext,
): Promise<readonly TimedModel[]> {
  const series: Series[] = [];
  for (const threads of new Set(models.map((model) => model.threads))) {
    const alike = models.filter((model) => model.threads === threads);
    series.push(await seriesOf(alike, threads, settings, context));
  }
  const missing = series.flatMap(({ phase }) => phase.missing);
  const known = series.reduce((sum, { phase }) => sum + phase.tasks.length, 0) - missing.length;
  const summary = `whole models: ${missing.length} to time, ${known} known already`;
  context.onEvent({ kind: 'planned', summary, known, toMeasure: missing.length });
  const progress = new RunProgress();
  progress.add(missing);
  const measured = new Map<ModelToTime, Measurement>();
  const stored = new Set<Measurement | undefined>();
  for (const { system, tasks, phase, results } of series) {
    for (const { request } of tasks.values()) stored.add(results.get(request));
    const measuring = new Measuring(context, system, results, progress);
    await measuring.measure(phase.missing, settings.remeasure);
    await measuring.replaceWhileQuiet(phase.disturbed);
    for (const [model, { request }] of tasks) {
      const measurement = results.get(request);
      if (measurement === undefined) continue;
      measured.set(model, measurement);
      const { name, manifest } = model.loaded;
      const dimensions = dimensionsText(model.loaded, model.batch);
      const { host } = context.agent.description;
      const whole = { name, manifest, batchSize: model.batch, dimensions, host, measurement };
      await keepWholeModel(context.store, whole, { traceUrlTemplate: settings.traceUrlTemplate });
    }
  }
  return models.map((model): TimedModel => {
    const measurement = measured.get(model);
    return { ...model, measurement, isStored: measurement !== undefined && stored.has(measurement) };
  });
}
