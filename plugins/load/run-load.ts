import {
  type Bound,
  boundOf,
  counted,
  groupedBy,
  identifySystem,
  type LoadedModel,
  type LoadGenerator,
  largestRate,
  messageOf,
  type MeasuringContext,
  offeredRate,
  type Origin,
  PlatformError,
  provenanceOf,
  type QueryRecord,
  type RunOptions,
  runOptionsOf,
  type RuntimeSettings,
  summaryOf,
  systemDocumentOf,
  type TargetEnd,
} from '../../src/plugin-api.js';
import { type Generation, predictGeneration } from './generation.js';
import { curveOf, measuredOf, stealShareOf } from './figures.js';
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
  estimatedCurve,
  noPrediction,
  type Predicting,
  predictRate,
  predictTrial,
  storedEstimates,
} from './predict.js';
import { type DeploymentAddress, measureOverhead, modelsBySize, type Place, whileServing } from './serve.js';
import { checkSettings, limitOf, type LoadSettings, runSizes, samplesAsked } from './settings.js';
import { serverTrial, type TrialPlan, trialsOf } from './trials.js';

/** A query of a row, for those who want every one. */
export type OnSample = (row: Pick<LoadRow, 'model' | 'offered_per_second' | 'seed'>, record: QueryRecord) => void;

export interface LoadRun {
  readonly settings: LoadSettings;
  readonly threads: number;
  readonly runtime: RuntimeSettings;
  /** Size of the batch with which the models were loaded. */
  readonly loadedBatch: number;
  readonly onSample?: OnSample | undefined;
  /** A server that has the models already, instead of the agent. */
  readonly deployment?: DeploymentAddress | undefined;
  readonly origin?: Pick<Origin, 'identities'>;
  /** Texts of decoders, from a report of dlbricks. */
  readonly generations?: readonly Generation[];
}

interface Run extends LoadRun {
  readonly place: Place;
  readonly context: MeasuringContext;
  readonly bound: Bound | undefined;
  readonly agents: number;
  readonly overhead: Overhead | null;
  readonly tell: (step: string, done: number, total: number, label: string) => void;
}

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

const NO_OVERHEAD: Overhead = { handover_ms: 0, return_ms: 0, between_ms: 0 };

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

function offeredOf({ options: { plan } }: TrialPlan): number | null {
  if (plan.kind === 'closed') return null;
  const offered = offeredRate(plan.arrivals);
  return Number.isFinite(offered) ? offered : null;
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
  const predicting = ofEstimates(estimated, run);
  if (overhead !== null && predicting === undefined && estimated !== undefined && 'reason' in estimated) {
    context.onEvent({ kind: 'note', level: 'warning', message: `${loaded.name}: ${estimated.reason}` });
  }
  const predictedOf = (plan: TrialPlan): LoadRow['predicted'] => {
    if (overhead === null) return null;
    if (estimated !== undefined && 'reason' in estimated) return noPrediction(estimated.reason);
    return predicting === undefined ? null : predictTrial(plan, offeredOf(plan), predicting);
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
  const predicted = predicting === undefined ? null : curveOf(estimatedCurve(predicting.times, sizes));
  return { rows, batches: { model: loaded.name, measured: curveOf(times), predicted } };
}

function ofEstimates(
  estimated: EstimatedTimes | { readonly reason: string } | undefined,
  run: Run,
): Predicting | undefined {
  const { overhead, agents, settings } = run;
  if (estimated === undefined || 'reason' in estimated || overhead === null) return undefined;
  return { times: estimated, overhead, agents, waitMs: settings.max_wait_ms };
}

function rowOf({ name }: LoadedModel, plan: TrialPlan): Omit<LoadRow, 'measured' | 'predicted'> {
  const { samples, limit, clients, seed } = plan;
  return { model: name, samples: [...samples], batch_limit: limit, clients, offered_per_second: offeredOf(plan), seed };
}

/** Runs one trial. */
async function measure(
  loaded: LoadedModel,
  plan: TrialPlan,
  generator: LoadGenerator,
  { bound, agents, onSample, context }: Run,
): Promise<LoadRow> {
  const trial = await generator.trial(plan.options);
  const row = rowOf(loaded, plan);
  for (const record of trial.records) onSample?.(row, record);
  const isOpen = plan.options.plan.kind === 'open';
  const summary = summaryOf(trial.records, trial, { bound, servers: agents, isOpen });
  const measured = measuredOf(trial, summary);
  const { p50_ms: p50, p99_ms: p99 } = measured;
  const figures = [p50, p99].map((ms) => (ms === null ? '?' : `${Number(ms.toPrecision(4))} ms`));
  const offered = row.offered_per_second === null ? '' : `, ${Number(row.offered_per_second.toPrecision(4))}/s`;
  const found =
    measured.ended === 'complete' ? `p50 ${figures[0]}, p99 ${figures[1]}` : (measured.reason ?? measured.ended);
  context.onEvent({ kind: 'note', level: 'info', message: `${row.model}${offered}: ${found}` });
  return { ...row, measured, predicted: null };
}

async function measureAll(
  loaded: LoadedModel,
  plans: readonly TrialPlan[],
  run: Run,
  predictedOf: (plan: TrialPlan) => LoadRow['predicted'],
): Promise<readonly LoadRow[]> {
  const { place, loadedBatch, settings, tell } = run;
  const rows: LoadRow[] = [];
  // Trials with the same sizes of runs share open models.
  for (const alike of groupedBy(plans, ({ limit, samples }) => JSON.stringify([limit, samples])).values()) {
    const asked = { ...alike[0], waitMs: settings.max_wait_ms };
    const models = await modelsBySize(loaded, loadedBatch, asked, place);
    const { result, ends } = await whileServing(loaded.name, models, asked, place, async (generator) => {
      const found: LoadRow[] = [];
      for (const plan of alike) {
        if (place.signal.aborted) break;
        tell('load', rows.length + found.length, plans.length, loaded.name);
        const row = await measure(loaded, plan, generator, run);
        found.push({ ...row, predicted: predictedOf(plan) });
        if (row.measured?.ended === 'failed') break;
      }
      return found;
    });
    rows.push(...withSteal(result, ends));
    if (place.signal.aborted || rows.at(-1)?.measured?.ended === 'failed') break;
  }
  return rows;
}

function withSteal(rows: readonly LoadRow[], ends: readonly TargetEnd[]): readonly LoadRow[] {
  const steal = stealShareOf(ends);
  return rows.map((row) => ({ ...row, measured: row.measured && { ...row.measured, steal_share: steal } }));
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

/** Runs that show the service time before a search. */
const SERVICE_QUERIES = 20;

async function serviceOf(loaded: LoadedModel, generator: LoadGenerator, run: Run): Promise<number> {
  const [samples = 1] = run.settings.batches;
  const plan = { kind: 'closed', clients: 1, thinkMs: 0, samples, queries: SERVICE_QUERIES, leastMs: 0 } as const;
  const trial = await generator.trial({ plan, dispatch: 'turns', seed: 1, limit: samples });
  const { serviceMeanMs, latencyMeanMs, invalid } = summaryOf(trial.records, trial, {
    bound: undefined,
    servers: 1,
    isOpen: false,
  });
  // Servers of others do not say how long a run takes; then the answer's time counts.
  const ms = serviceMeanMs ?? latencyMeanMs;
  if (ms !== null && trial.end.kind === 'complete') return ms;
  throw new PlatformError('unsupported', `${loaded.name} answers no queries: ${invalid ?? 'no answer came'}`);
}
