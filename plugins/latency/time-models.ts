import {
  assertEnoughCores,
  type BenchmarkAgent,
  changeableBatch,
  counted,
  dimensionsText,
  distinctTasks,
  groupedBy,
  identifySystem,
  idleSettings,
  isCompletelyTyped,
  keepEstimates,
  keepWholeModel,
  latencyOfOutcome,
  KnownResults,
  layerGraph,
  type Limits,
  type LoadedModel,
  type Measurement,
  Measuring,
  type MeasuringContext,
  memoryProblem,
  memoryThere,
  needOfGraph,
  type NewEstimate,
  planMeasuring,
  type Protocol,
  type Remeasure,
  type RunOptions,
  buildRunOptions,
  RunProgress,
  type RuntimeSettings,
  runtimeText,
  type Task,
  signatureWithoutName,
  taskKey,
  wholeBenchmark,
} from '../../src/plugin-api.js';

export interface ModelToTime {
  readonly loaded: LoadedModel;
  readonly batch: number;
  readonly threads: number;
  readonly runtime: RuntimeSettings;
}

export interface TimingSettings {
  readonly protocol: Protocol;
  readonly limits: Limits;
  readonly remeasure: Remeasure;
  /** By default as the environment says. */
  readonly traceUrlTemplate?: string | undefined;
}

export interface TimedModel extends ModelToTime {
  readonly measurement: Measurement | undefined;
  readonly isStored: boolean;
  /** undefined where the model was run, or the run was interrupted before it */
  readonly refusal?: string | undefined;
}

async function buildTask(
  { loaded, batch, threads, runtime }: ModelToTime,
  { protocol, limits }: TimingSettings,
  agent: BenchmarkAgent,
): Promise<Task> {
  const benchmark = await wholeBenchmark(loaded, agent);
  const request = {
    benchmark,
    name: loaded.name,
    runOptions: buildRunOptions(threads, agent.description, runtime),
    protocol,
    limits,
    occasion: 1,
  };
  const sizes = [`batch ${batch}`, dimensionsText(loaded, batch)].filter((text) => text !== '');
  const label = [loaded.name, ...sizes, counted(threads, 'thread'), runtimeText(runtime)].filter((text) => text !== '');
  return { label: label.join(', '), request, work: 1 };
}

/** With a batch that fits; undefined where the model may fit. */
function problemWithMemory(
  { loaded }: ModelToTime,
  { limits }: TimingSettings,
  { description }: BenchmarkAgent,
): string | undefined {
  // A runtime that knows no types of values needs as much, but nobody can tell how much.
  if (!isCompletelyTyped(loaded.model)) return undefined;
  const need = needOfGraph(layerGraph(loaded.model));
  return memoryProblem('a run', need, changeableBatch(loaded), memoryThere(limits, description));
}

async function planSeries(
  models: readonly ModelToTime[],
  settings: TimingSettings,
  { agent, store }: MeasuringContext,
  runOptions: RunOptions,
) {
  const tasks = new Map<ModelToTime, Task>();
  for (const model of models) tasks.set(model, await buildTask(model, settings, agent));
  const system = identifySystem(agent.description, runOptions);
  const results = new KnownResults();
  const plan = await planMeasuring(distinctTasks(tasks.values()), results, {
    system,
    store,
    remeasure: settings.remeasure,
  });
  return { system, tasks, plan, results };
}

/** Without an interval. */
function buildEstimate({ loaded, batch }: ModelToTime, dimensions: string, measurement: Measurement): NewEstimate {
  const { outcome } = measurement;
  const latencyMs = latencyOfOutcome(outcome);
  return {
    plugin: 'latency',
    model: loaded.name,
    version: loaded.manifest?.version ?? null,
    graph: signatureWithoutName(loaded.model),
    batch,
    dimensions,
    settings: '',
    latencyMs,
    lowMs: null,
    highMs: null,
    wholeMs: latencyMs,
    coverage: latencyMs === null ? 0 : 1,
    reason: outcome.kind === 'samples' ? null : `${outcome.reason}: ${outcome.message}`,
  };
}

/**
 * Stores each at once. A model that fails is a result.
 *
 * @returns in the order of the models; after an interruption, some have no measurement
 * @throws PlatformError `usage` for more threads than cores, and where the agent or the store fails
 */
export async function timeModels(
  models: readonly ModelToTime[],
  settings: TimingSettings,
  context: MeasuringContext,
): Promise<readonly TimedModel[]> {
  const idle = new Set(models.flatMap(({ runtime }) => idleSettings(runtime)));
  for (const message of idle) context.onEvent({ kind: 'note', level: 'warning', message });
  const series: Awaited<ReturnType<typeof planSeries>>[] = [];
  const refusals = new Map<ModelToTime, string>();
  const buildOptions = ({ threads, runtime }: ModelToTime) =>
    buildRunOptions(threads, context.agent.description, runtime);
  for (const model of models) assertEnoughCores(buildOptions(model), context.agent.description);
  for (const alike of groupedBy(models, (model) => JSON.stringify(buildOptions(model))).values()) {
    const { plan, ...of } = await planSeries(alike, settings, context, buildOptions(alike[0]));
    const missing = plan.missing.filter((task) => {
      const askedFor = [...of.tasks].filter(([, asked]) => taskKey(asked.request) === taskKey(task.request));
      const problems = askedFor.map(([model]) => [model, problemWithMemory(model, settings, context.agent)] as const);
      for (const [model, problem] of problems) if (problem !== undefined) refusals.set(model, problem);
      return problems.every(([, problem]) => problem === undefined);
    });
    series.push({ ...of, plan: { ...plan, missing } });
  }
  for (const [{ loaded }, message] of refusals) {
    context.onEvent({ kind: 'note', level: 'warning', message: `${loaded.name}: ${message}` });
  }
  const missing = series.flatMap(({ plan }) => plan.missing);
  const known = series.reduce((sum, { plan }) => sum + plan.tasks.length, 0) - missing.length - refusals.size;
  const summary = `whole models: ${missing.length} to time, ${known} known already`;
  context.onEvent({ kind: 'planned', summary, known, toMeasure: missing.length });
  const progress = new RunProgress();
  progress.add(missing);
  const measured = new Map<ModelToTime, Measurement>();
  const stored = new Set<Measurement | undefined>();
  for (const { system, tasks, plan, results } of series) {
    for (const { request } of tasks.values()) stored.add(results.get(request));
    const measuring = new Measuring(context, system, results, progress);
    await measuring.measure(plan.missing, settings.remeasure);
    await measuring.replaceWhileQuiet(plan.disturbed);
    for (const [model, { request }] of tasks) {
      const measurement = results.get(request);
      if (measurement === undefined) continue;
      measured.set(model, measurement);
      const { name, manifest } = model.loaded;
      const dimensions = dimensionsText(model.loaded, model.batch);
      const { host } = context.agent.description;
      const whole = { name, manifest, batchSize: model.batch, dimensions, host, measurement };
      await keepWholeModel(context.store, whole, { traceUrlTemplate: settings.traceUrlTemplate });
      await keepEstimates(context.store, measurement.system, [buildEstimate(model, dimensions, measurement)]);
    }
  }
  return models.map((model): TimedModel => {
    const measurement = measured.get(model);
    const isStored = measurement !== undefined && stored.has(measurement);
    return { ...model, measurement, isStored, refusal: refusals.get(model) };
  });
}
