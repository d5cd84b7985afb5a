import {
  assertEnoughCores,
  parseBound,
  counted,
  identifySystem,
  inPercent,
  type LoadedModel,
  messageOf,
  type MeasuringContext,
  PlatformError,
  buildProvenance,
  type RunOptions,
  buildRunOptions,
  toSystemDocument,
} from '../../src/plugin-api.js';
import { predictGeneration } from './generation.js';
import { computeCurve } from './figures.js';
import { type GenerationRow, isPartial, type LoadResult, type LoadRow, type ModelLoad } from './load-result.js';
import { estimatedCurves, NO_COSTS } from './predict.js';
import { buildRow, type LoadRun, measureAll, noteLength, type Run } from './measure-trials.js';
import { byTurns, createPredictor, ModelPredictor, predictPlan } from './model-predictor.js';
import { searchRates } from './search-rates.js';
import { type Place, unlessAborted } from './serve.js';
import { type Likeness, observe, oneLayerLike, Slowness } from './stand-in.js';
import { checkSettings, limitOf, runSizes, samplesAsked } from './settings.js';
import { isSearch, leastTrialMs } from './trial-length.js';
import { planTrials } from './trials.js';

/** A model that fails is a result; an interruption keeps the finished trials. @throws PlatformError */
export async function runLoad(
  models: readonly LoadedModel[],
  load: LoadRun,
  context: MeasuringContext,
): Promise<{ readonly result: LoadResult; readonly partial: boolean }> {
  const { settings, threads, runtime, deployment } = load;
  const { agent, signal, onEvent } = context;
  const agents = Math.max(1, (deployment?.reaches ?? agent.reaches?.() ?? []).length);
  const hasModels = models.length > 0 || !load.generations?.length;
  checkSettings(settings, { agents, isDeployed: deployment !== undefined, hasModels });
  const runOptions: RunOptions = buildRunOptions(threads, agent.description, runtime);
  assertEnoughCores(runOptions, agent.description);
  const system = identifySystem(agent.description, runOptions);
  const warnings: string[] = [];
  if (settings.measure && deployment === undefined && threads >= system.cores) {
    const of = `${counted(threads, 'thread')} on ${counted(system.cores, 'core')}`;
    warnings.push(
      `the model has ${of}, so the generator takes time from it; --threads ${Math.max(1, system.cores - 1)} leaves it a core`,
    );
  }
  const onWaiting = (processId: number | undefined): void => {
    if (processId !== undefined)
      onEvent({ kind: 'note', level: 'info', message: `process ${processId} measures on this machine; waiting` });
  };
  const place: Place = { agent, signal, runOptions, onWaiting, deployment };
  const tell: Run['tell'] = (step, done, total, label) => onEvent({ kind: 'measuring', step, done, total, label });
  const bound = settings.bound === undefined ? undefined : parseBound(settings.bound);
  const run: Run = { ...load, place, context, bound, agents, tell };
  const parts: ModelLoad[] = [];
  const unusable: { model: string; reason: string }[] = [];
  for (const loaded of models) {
    if (signal.aborted) break;
    try {
      parts.push(await putUnderLoad(loaded, run));
    } catch (error) {
      if (signal.aborted) break;
      if (!(error instanceof PlatformError) || !['model', 'unsupported'].includes(error.code)) throw error;
      unusable.push({ model: loaded.name, reason: messageOf(error) });
      onEvent({ kind: 'note', level: 'warning', message: `${loaded.name}: ${messageOf(error)}` });
    }
  }
  const generations = (await unlessAborted(signal, predictTexts(run))) ?? [];
  const result: LoadResult = {
    provenance: buildProvenance({
      ...load.origin,
      models,
      agent,
      reasons: { protocol: 'a load run has a schedule instead' },
    }),
    system: toSystemDocument(system),
    agents,
    settings: {
      scenario: settings.scenario,
      bound: settings.bound ?? null,
      think_ms: settings.think_ms,
      max_wait_ms: settings.max_wait_ms,
      least_ms: leastTrialMs(settings, 0),
      dispatch: settings.dispatch,
      seed: settings.seed,
      deployment: deployment?.url ?? null,
    },
    overheads: parts.flatMap(({ overhead }) => overhead ?? []),
    rows: parts.flatMap(({ rows }) => rows),
    rates: parts.flatMap(({ rate }) => rate ?? []),
    batches: parts.flatMap(({ batches }) => batches ?? []),
    generations,
    unusable,
    warnings: [...warnings, ...parts.flatMap(({ rows }) => listWarnings(rows))],
  };
  return { result, partial: signal.aborted || isPartial(result) };
}

/** A decoder of tokens reads more weights than caches hold. */
const TEXTS: Likeness = { weightBytes: 64 * 2 ** 20, runMs: 10 };

async function predictTexts({ generations = [], settings, bound, place }: Run): Promise<GenerationRow[]> {
  if (generations.length === 0) return [];
  const seen = await observe(await oneLayerLike(TEXTS, place), place);
  const slowness = seen && new Slowness([seen]);
  return generations.flatMap((one) => {
    return predictGeneration(one, { settings, bound, costs: seen ?? NO_COSTS, slowness });
  });
}

/** Who takes a noticeable share of the processors' time, and the remedy. */
const TAKERS = [
  { key: 'steal_share', who: 'other machines', noticeable: 0.01, remedy: 'repeat it in a quiet hour' },
  { key: 'others_share', who: 'other processes', noticeable: 0.05, remedy: 'stop them, and repeat it' },
] as const;
const LITTLE_LIMIT = 0.02;
/** An answer is on its way for some time, and waits while the generator looks at the clock. */
const LITTLE_LIMIT_MS = 2;

/** Of one model, each once for all of its trials. */
export function listWarnings(rows: readonly LoadRow[]): readonly string[] {
  const trials = rows.flatMap(({ measured, ...row }) => (measured === null ? [] : [{ ...row, ...measured }]));
  const late = trials.flatMap(
    ({ model, clients, offered_per_second: offered, little_error, latency_mean_ms: latency }) => {
      // Answers to queries of one moment wait for each other on their way.
      const little = clients === null && offered === null ? 0 : (little_error ?? 0);
      const ms = little * (latency ?? 0);
      return Math.abs(little) > LITTLE_LIMIT && Math.abs(ms) > LITTLE_LIMIT_MS ? [{ model, little, ms }] : [];
    },
  );
  const [off] = late.toSorted((a, b) => Math.abs(b.little) - Math.abs(a.little));
  const most = (count: number): string => (trials.length === 1 ? '' : ` at most (${count} of ${trials.length} trials)`);
  return [
    ...TAKERS.flatMap(({ key, who, noticeable, remedy }) => {
      const taken = trials.map((trial) => ({ model: trial.model, share: trial[key] ?? 0 }));
      const [worst, ...others] = taken.filter(({ share }) => share > noticeable).toSorted((a, b) => b.share - a.share);
      if (worst === undefined) return [];
      const share = `${inPercent(worst.share)} of the processors' time${most(1 + others.length)}`;
      return [`${worst.model}: ${who} took ${share}; ${remedy}`];
    }),
    ...(off === undefined
      ? []
      : [
          `${off.model}: Little's law is off by ${inPercent(off.little)}${most(late.length)}, because answers came ${Number(Math.abs(off.ms).toPrecision(2))} ms ${off.ms > 0 ? 'after' : 'before'} the moments that they state; leave a core to the generator (--threads), or run on an idle machine`,
        ]),
  ];
}

async function putUnderLoad(loaded: LoadedModel, run: Run): Promise<ModelLoad> {
  const { settings, bound } = run;
  const samples = samplesAsked(settings);
  const isBatch = settings.scenario === 'batch';
  const sizes = isBatch ? samples : runSizes(samples, limitOf(settings, samples));
  const source = await createPredictor(loaded, sizes, run);
  const predictor = source instanceof ModelPredictor ? source : undefined;
  if (isSearch(settings) && bound !== undefined) return searchRates(loaded, bound, run, source);
  noteLength(loaded.name, run);
  const plans = planTrials(settings, bound);
  const rows: LoadRow[] = [];
  if (!settings.measure) {
    for (const plan of plans) {
      const predicting = await predictor?.predicting(plan);
      rows.push({ ...buildRow(loaded, plan), measured: null, predicted: predictPlan(plan, source, predicting) });
    }
  }
  // With predictions, each trial has its turn with an observation of the machine.
  const groups = !settings.measure ? [] : predictor === undefined ? [plans] : plans.map((plan) => [plan]);
  for (const some of groups) {
    if (run.place.signal.aborted || rows.at(-1)?.measured?.ended === 'failed') break;
    const measuring = () => measureAll(loaded, some, run, { done: rows.length, total: plans.length });
    const [tried, predicting] = await byTurns(predictor, some[0], measuring);
    for (const { plan, row } of tried) rows.push({ ...row, predicted: predictPlan(plan, source, predicting) });
  }
  const overhead = predictor?.overhead();
  if (!isBatch) return { rows, overhead };
  const times = rows.flatMap(({ measured, samples: [batch = 1] }) => {
    return measured?.service_mean_ms == null || measured.invalid !== null
      ? []
      : [{ batch, ms: measured.service_mean_ms }];
  });
  const curves = predictor && estimatedCurves(predictor.times, sizes);
  const predicted = curves === undefined ? null : computeCurve(curves.value, curves);
  return { rows, overhead, batches: { model: loaded.name, measured: computeCurve(times), predicted } };
}
