import {
  type Bound,
  boundOf,
  counted,
  identifySystem,
  type LoadedModel,
  largestRate,
  messageOf,
  type MeasuringContext,
  PlatformError,
  provenanceOf,
  type RunOptions,
  runOptionsOf,
  systemDocumentOf,
  withBatch,
} from '../../src/plugin-api.js';
import { predictGeneration } from './generation.js';
import { curveOf } from './figures.js';
import {
  type GenerationRow,
  isPartial,
  type LoadResult,
  type LoadRow,
  type Overhead,
  type SearchedRate,
} from './load-result.js';
import {
  type EstimatedTimes,
  estimatedCurves,
  noPrediction,
  type Predicting,
  predictRate,
  predictTrial,
  storedEstimates,
} from './predict.js';
import { type LoadRun, measure, measureAll, rowOf, type Run, serviceOf, withSteal } from './measure-trials.js';
import { storedRunTimes } from './stored-runs.js';
import { benchmarkOf, measureOverhead, modelsBySize, type Place, whileServing } from './serve.js';
import { checkSettings, limitOf, runSizes, samplesAsked } from './settings.js';
import { serverTrial, type TrialPlan, trialsOf } from './trials.js';

/**
 * Puts models under load, one after another, and predicts the same from estimates of the store. A model that fails is a
 * result; an interruption keeps the finished trials.
 *
 * @throws PlatformError `usage` for settings that do not fit together, and where the agent fails
 */
export async function runLoad(
  models: readonly LoadedModel[],
  load: LoadRun,
  context: MeasuringContext,
): Promise<{ readonly result: LoadResult; readonly partial: boolean }> {
  const { settings, threads, runtime } = load;
  checkSettings(settings);
  const { agent, signal, onEvent } = context;
  const runOptions: RunOptions = runOptionsOf(threads, agent.description, runtime);
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
  // What another server costs besides the model is not known.
  const isHere = deployment === undefined;
  const overhead = settings.predict ? await (isHere ? measureOverhead(place) : NO_OVERHEAD) : null;
  const bound = settings.bound === undefined ? undefined : boundOf(settings.bound);
  const agents = Math.max(1, (deployment?.reaches ?? agent.reaches?.() ?? []).length);
  const run: Run = { ...load, place, context, bound, agents, overhead, tell };
  const parts: ModelLoad[] = [];
  const unusable: { model: string; reason: string }[] = [];
  for (const loaded of models) {
    if (signal.aborted) break;
    try {
      parts.push(await loadOf(loaded, run));
    } catch (error) {
      if (signal.aborted) break;
      if (!(error instanceof PlatformError) || !['model', 'unsupported'].includes(error.code)) throw error;
      unusable.push({ model: loaded.name, reason: messageOf(error) });
      onEvent({ kind: 'note', level: 'warning', message: `${loaded.name}: ${messageOf(error)}` });
    }
  }
  const generations: GenerationRow[] = [];
  for (const one of load.generations ?? []) {
    generations.push(...(await predictGeneration(one, { settings, bound, overhead: overhead ?? NO_OVERHEAD })));
  }
  const result: LoadResult = {
    provenance: provenanceOf({
      ...load.origin,
      models,
      agent,
      reasons: { protocol: 'a load run has a schedule instead' },
    }),
    system: systemDocumentOf(system),
    agents,
    settings: {
      scenario: settings.scenario,
      bound: settings.bound ?? null,
      think_ms: settings.think_ms,
      max_wait_ms: settings.max_wait_ms,
      least_ms: settings.least_ms,
      dispatch: settings.dispatch,
      seed: settings.seed,
    },
    overhead,
    rows: parts.flatMap(({ rows }) => rows),
    rates: parts.flatMap(({ rate }) => rate ?? []),
    batches: parts.flatMap(({ batches }) => batches ?? []),
    generations,
    unusable,
    warnings: [...warnings, ...parts.flatMap(({ rows }) => rows.flatMap(warningsOf))],
  };
  return { result, partial: signal.aborted || isPartial(result) };
}

const NO_OVERHEAD: Overhead = { handover_ms: 0, return_ms: 0, between_ms: 0, slowdowns: [] };

interface ModelLoad {
  readonly rows: readonly LoadRow[];
  readonly rate?: SearchedRate;
  readonly batches?: LoadResult['batches'][number];
}

const NOTICEABLE_STEAL = 0.01;
const LITTLE_LIMIT = 0.02;
/** With fewer queries, the edges of a run weigh more than this limit. */
const LITTLE_QUERIES = 1000;

function warningsOf({ model, measured }: LoadRow): readonly string[] {
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

async function loadOf(loaded: LoadedModel, run: Run): Promise<ModelLoad> {
  const { settings, bound, loadedBatch, context, overhead, place } = run;
  const samples = samplesAsked(settings);
  const isBatch = settings.scenario === 'batch';
  const limit = limitOf(settings, samples);
  const sizes = isBatch ? samples : runSizes(samples, limit);
  const system = identifySystem(place.agent.description, place.runOptions);
  const estimated =
    overhead === null ? undefined : await storedEstimates(loaded, loadedBatch, sizes, system, context.store);
  const predicting = ofEstimates(estimated, run, await runTimesOf(loaded, run));
  if (overhead !== null && predicting === undefined && estimated !== undefined && 'reason' in estimated) {
    context.onEvent({ kind: 'note', level: 'warning', message: `${loaded.name}: ${estimated.reason}` });
  }
  const predictedOf = (plan: TrialPlan): LoadRow['predicted'] => {
    if (overhead === null) return null;
    if (estimated !== undefined && 'reason' in estimated) return noPrediction(estimated.reason);
    return predicting === undefined ? null : predictTrial(plan, predicting);
  };
  const isSearch = settings.scenario === 'server' && settings.rates === undefined;
  if (isSearch && bound !== undefined) return searchOf(loaded, bound, run, predicting, predictedOf);
  const plans = trialsOf(settings, bound);
  const rows: LoadRow[] = [];
  if (!settings.measure) {
    for (const plan of plans) rows.push({ ...rowOf(loaded, plan), measured: null, predicted: predictedOf(plan) });
  } else rows.push(...(await measureAll(loaded, plans, run, predictedOf)));
  if (!isBatch) return { rows };
  const times = rows.flatMap(({ measured, samples: [batch = 1] }) => {
    return measured?.service_mean_ms == null || measured.invalid !== null
      ? []
      : [{ batch, ms: measured.service_mean_ms }];
  });
  const curves = predicting && estimatedCurves(predicting.times, sizes);
  const predicted = curves === undefined ? null : curveOf(curves.value, curves);
  return { rows, batches: { model: loaded.name, measured: curveOf(times), predicted } };
}

/** Stored times of runs with the size of a query. */
async function runTimesOf(loaded: LoadedModel, run: Run): Promise<Predicting['runTimes']> {
  const { settings, loadedBatch, place, context, overhead } = run;
  const [samples = 1] = samplesAsked(settings);
  if (overhead === null) return undefined;
  const { signature } = await benchmarkOf(withBatch(loaded, loadedBatch, samples), place.agent);
  return storedRunTimes(signature, identifySystem(place.agent.description, place.runOptions), context.store);
}

function ofEstimates(
  estimated: EstimatedTimes | { readonly reason: string } | undefined,
  { overhead, agents, settings }: Run,
  runTimes: Predicting['runTimes'],
): Predicting | undefined {
  if (estimated === undefined || 'reason' in estimated || overhead === null) return undefined;
  return { times: estimated, overhead, agents, waitMs: settings.max_wait_ms, runTimes };
}

async function searchOf(
  loaded: LoadedModel,
  bound: Bound,
  run: Run,
  predicting: Predicting | undefined,
  predictedOf: (plan: TrialPlan) => LoadRow['predicted'],
): Promise<ModelLoad> {
  const { settings, place, agents, loadedBatch, tell } = run;
  const trialAt = (perSecond: number, seed: number): TrialPlan => serverTrial(settings, perSecond, seed, bound);
  const rows: LoadRow[] = [];
  const searches: SearchedRate['measured'] = [];
  const [samples = 1] = settings.batches;
  const limit = limitOf(settings, [samples]);
  for (let search = 0; settings.measure && search < settings.searches && !place.signal.aborted; search++) {
    const asked = { samples: [samples], limit, waitMs: settings.max_wait_ms };
    const models = await modelsBySize(loaded, loadedBatch, asked, place);
    const { result, ends } = await whileServing(loaded.name, models, asked, place, async (generator) => {
      const serviceMs = await serviceOf(loaded, generator, run);
      if (serviceMs >= bound.ms) {
        const [time, most] = [serviceMs, bound.ms].map((ms) => `${Number(ms.toPrecision(3))} ms`);
        throw new PlatformError(
          'unsupported',
          `one run takes ${time}, so no rate holds the bound of ${most}; choose a larger bound (--bound)`,
        );
      }
      const found: LoadRow[] = [];
      const searched = await largestRate(
        async (perSecond, seed) => {
          if (place.signal.aborted) return null;
          tell('searching', found.length, found.length + 1, `${loaded.name}, ${perSecond.toPrecision(4)}/s`);
          const plan = trialAt(perSecond, seed);
          const row = await measure(loaded, plan, generator, run);
          found.push({ ...row, predicted: predictedOf(plan) });
          return row.measured?.holds ?? null;
        },
        (500 * agents) / serviceMs,
        settings.seed,
      );
      return { found, searched };
    });
    rows.push(...withSteal(result.found, ends));
    const { passed, failed, trials, stopped } = result.searched;
    searches.push({ passed_per_second: passed, failed_per_second: failed, trials, stopped });
  }
  const startRate = (times: Predicting['times']['value']): number => (500 * agents) / (times[0]?.ms ?? 1);
  const predicted = predicting === undefined ? null : await predictRate(trialAt, startRate, settings.seed, predicting);
  if (rows.length === 0 && predicted?.value_per_second != null) {
    const plan = trialAt(predicted.value_per_second, settings.seed);
    rows.push({ ...rowOf(loaded, plan), measured: null, predicted: predictedOf(plan) });
  }
  return { rows, rate: { model: loaded.name, batch_limit: limit, measured: searches, predicted } };
}
