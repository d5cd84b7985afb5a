import {
  type Bound,
  boundOf,
  counted,
  identifySystem,
  type LoadedModel,
  type LoadGenerator,
  messageOf,
  type MeasuringContext,
  PlatformError,
  buildProvenance,
  type RunOptions,
  buildRunOptions,
  type RateSearching,
  searchRate,
  toSystemDocument,
} from '../../src/plugin-api.js';
import { predictGeneration } from './generation.js';
import { computeCurve } from './figures.js';
import {
  type GenerationRow,
  isPartial,
  type LoadResult,
  type LoadRow,
  type Overhead,
  type SearchedRate,
} from './load-result.js';
import { estimatedCurves, NO_COSTS, noPrediction, type Predicting, predictRate, predictTrial } from './predict.js';
import {
  type LoadRun,
  measure,
  measureAll,
  rowOf,
  type Run,
  measureServiceMs,
  type Tried,
  withSteal,
} from './measure-trials.js';
import { ModelPredictor, predictorOf } from './model-predictor.js';
import { modelsBySize, type Place, whileServing } from './serve.js';
import { type Likeness, observe, oneLayerLike, Slowness } from './stand-in.js';
import { checkSettings, isSearch, leastTrialMs, limitOf, runSizes, samplesAsked } from './settings.js';
import { serverTrial, type TrialPlan, planTrials } from './trials.js';

/** A model that fails is a result; an interruption keeps the finished trials. @throws PlatformError */
export async function runLoad(
  models: readonly LoadedModel[],
  load: LoadRun,
  context: MeasuringContext,
): Promise<{ readonly result: LoadResult; readonly partial: boolean }> {
  const { settings, threads, runtime } = load;
  checkSettings(settings);
  const { agent, signal, onEvent } = context;
  const runOptions: RunOptions = buildRunOptions(threads, agent.description, runtime);
  const system = identifySystem(agent.description, runOptions);
  const warnings: string[] = [];
  if (settings.measure && threads >= system.cores) {
    const of = `${counted(threads, 'thread')} on ${counted(system.cores, 'core')}`;
    warnings.push(
      `the model has ${of}, so the generator takes time from it; --threads ${Math.max(1, system.cores - 1)} leaves it a core`,
    );
  }
  const onWaiting = (processId: number | undefined): void => {
    if (processId !== undefined)
      onEvent({ kind: 'note', level: 'info', message: `process ${processId} measures on this machine; waiting` });
  };
  const { deployment } = load;
  const place: Place = { agent, signal, runOptions, onWaiting, deployment };
  const tell: Run['tell'] = (step, done, total, label) => onEvent({ kind: 'measuring', step, done, total, label });
  const bound = settings.bound === undefined ? undefined : boundOf(settings.bound);
  const agents = Math.max(1, (deployment?.reaches ?? agent.reaches?.() ?? []).length);
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
  const generations: GenerationRow[] = [];
  if (load.generations?.length) {
    const seen = await observe(await oneLayerLike(TEXTS, place), place);
    const slowness = seen && new Slowness([seen]);
    for (const one of load.generations) {
      generations.push(...predictGeneration(one, { settings, bound, costs: seen ?? NO_COSTS, slowness }));
    }
  }
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
    warnings: [...warnings, ...parts.flatMap(({ rows }) => rows.flatMap(listWarnings))],
  };
  return { result, partial: signal.aborted || isPartial(result) };
}

/** A decoder of tokens reads more weights than caches hold. */
const TEXTS: Likeness = { weightBytes: 64 * 2 ** 20, runMs: 10 };

interface ModelLoad {
  readonly rows: readonly LoadRow[];
  readonly overhead?: readonly Overhead[] | undefined;
  readonly rate?: SearchedRate;
  readonly batches?: LoadResult['batches'][number];
}

const NOTICEABLE_STEAL = 0.01;
const LITTLE_LIMIT = 0.02;
/** With fewer queries, the edges of a run weigh more than this limit. */
const LITTLE_QUERIES = 1000;

function listWarnings({ model, measured }: LoadRow): readonly string[] {
  if (measured === null) return [];
  const { steal_share: steal, little_error: little, queries, ended } = measured;
  const isOff = little !== null && Math.abs(little) > LITTLE_LIMIT && queries >= LITTLE_QUERIES && ended === 'complete';
  return [
    ...(steal !== null && steal > NOTICEABLE_STEAL
      ? [
          `${model}: other machines took ${(steal * 100).toFixed(1)} % of the processors' time; repeat it in a quiet hour`,
        ]
      : []),
    ...(isOff
      ? [`${model}: Little's law is off by ${(little * 100).toFixed(1)} %, so the record may be incomplete`]
      : []),
  ];
}

async function putUnderLoad(loaded: LoadedModel, run: Run): Promise<ModelLoad> {
  const { settings, bound } = run;
  const samples = samplesAsked(settings);
  const isBatch = settings.scenario === 'batch';
  const sizes = isBatch ? samples : runSizes(samples, limitOf(settings, samples));
  const source = await predictorOf(loaded, sizes, run);
  const predictor = source instanceof ModelPredictor ? source : undefined;
  if (isSearch(settings) && bound !== undefined) return searchRates(loaded, bound, run, source);
  const plans = planTrials(settings, bound);
  const rows: LoadRow[] = [];
  if (!settings.measure) {
    for (const plan of plans) {
      const predicting = await predictor?.predicting(plan);
      rows.push({ ...rowOf(loaded, plan), measured: null, predicted: predictedOf(plan, source, predicting) });
    }
  }
  // With predictions, each trial has its turn with an observation of the machine.
  const turns = !settings.measure ? [] : predictor === undefined ? [plans] : plans.map((plan) => [plan]);
  for (const some of turns) {
    if (run.place.signal.aborted || rows.at(-1)?.measured?.ended === 'failed') break;
    const measuring = () => measureAll(loaded, some, run, { done: rows.length, total: plans.length });
    const [tried, predicting] = await byTurns(predictor, some[0], measuring);
    rows.push(...tried.map(({ plan, row }) => ({ ...row, predicted: predictedOf(plan, source, predicting) })));
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

type Source = Awaited<ReturnType<typeof predictorOf>>;

function predictedOf(plan: TrialPlan, source: Source, predicting: Predicting | undefined): LoadRow['predicted'] {
  if (source !== null && 'reason' in source) return noPrediction(source.reason);
  return predicting === undefined ? null : predictTrial(plan, predicting);
}

async function byTurns<T>(
  predictor: ModelPredictor | undefined,
  plan: TrialPlan | undefined,
  measure: () => Promise<T>,
): Promise<readonly [T, Predicting | undefined]> {
  return predictor === undefined ? [await measure(), undefined] : predictor.around(plan, measure);
}

/** Trials of a search between two observations of the machine. */
const TRIALS_OF_ROUND = 3;

/** A search in its first round needs the time of a run. @throws PlatformError where a run takes as long as the bound */
async function startSearch(loaded: LoadedModel, bound: Bound, generator: LoadGenerator, run: Run) {
  const serviceMs = await measureServiceMs(loaded, generator, run);
  if (serviceMs < bound.ms) return searchRate((500 * run.agents) / serviceMs, run.settings.seed);
  const [time, most] = [serviceMs, bound.ms].map((ms) => `${Number(ms.toPrecision(3))} ms`);
  const problem = `one run takes ${time}, so no rate holds the bound of ${most}; choose a larger bound (--bound)`;
  throw new PlatformError('unsupported', problem);
}

async function searchRates(loaded: LoadedModel, bound: Bound, run: Run, source: Source): Promise<ModelLoad> {
  const { settings, place, agents, loadedBatch, tell } = run;
  const trialAt = (perSecond: number, seed: number): TrialPlan => serverTrial(settings, perSecond, seed, bound);
  const rows: LoadRow[] = [];
  const searches: SearchedRate['measured'] = [];
  const [samples = 1] = settings.batches;
  const limit = limitOf(settings, [samples]);
  const predictor = source instanceof ModelPredictor ? source : undefined;
  const trialsOfRound = predictor === undefined ? Infinity : TRIALS_OF_ROUND;
  if (!settings.measure) await predictor?.predicting(undefined);
  for (let search = 0; settings.measure && search < settings.searches && !place.signal.aborted; search++) {
    const asked = { samples: [samples], limit, waitMs: settings.max_wait_ms };
    const models = await modelsBySize(loaded, loadedBatch, asked, place);
    let searching: RateSearching | undefined;
    let step: ReturnType<RateSearching['next']> | undefined;
    const searchRound = async (generator: LoadGenerator): Promise<readonly Tried[]> => {
      searching ??= await startSearch(loaded, bound, generator, run);
      step ??= searching.next();
      const found: Tried[] = [];
      while (step.done !== true && found.length < trialsOfRound && !place.signal.aborted) {
        const { perSecond, seed } = step.value;
        const done = rows.length + found.length;
        tell('searching', done, done + 1, `${loaded.name}, ${perSecond.toPrecision(4)}/s`);
        const plan = trialAt(perSecond, seed);
        const row = await measure(loaded, plan, generator, run);
        found.push({ plan, row });
        step = searching.next(row.measured?.holds ?? null);
      }
      return found;
    };
    while (step?.done !== true && !place.signal.aborted) {
      const [{ result, ends }, seen] = await byTurns(predictor, undefined, async () => {
        if (place.signal.aborted) return { result: [], ends: [] };
        return whileServing(loaded.name, models, asked, place, searchRound);
      });
      for (const { plan, row } of withSteal(result, ends)) {
        rows.push({ ...row, predicted: predictedOf(plan, source, seen) });
      }
    }
    const interrupted = { passed: null, failed: null, trials: rows.length, stopped: 'it was interrupted' };
    const { passed, failed, trials, stopped } = step?.done === true ? step.value : interrupted;
    searches.push({ passed_per_second: passed, failed_per_second: failed, trials, stopped });
  }
  const predicting = place.signal.aborted ? undefined : predictor?.afterAll();
  const startRate = (times: Predicting['times']['value']): number => (500 * agents) / (times[0]?.ms ?? 1);
  const predicted = predicting === undefined ? null : predictRate(trialAt, startRate, settings.seed, predicting);
  if (rows.length === 0 && predicted?.value_per_second != null) {
    const plan = trialAt(predicted.value_per_second, settings.seed);
    rows.push({ ...rowOf(loaded, plan), measured: null, predicted: predictedOf(plan, source, predicting) });
  }
  return {
    rows,
    overhead: predictor?.overhead(),
    rate: { model: loaded.name, batch_limit: limit, measured: searches, predicted },
  };
}
