import {
  type Bound,
  groupedBy,
  identifySystem,
  type LoadedModel,
  type LoadGenerator,
  type MeasuringContext,
  type Origin,
  PlatformError,
  type QueryRecord,
  type RanTrial,
  type RuntimeSettings,
  type SentQuery,
  summarizeTrial,
  type ServingEnd,
  append,
} from '../../src/plugin-api.js';
import type { Generation } from './generation.js';
import { buildMeasured, computeTakenShare } from './figures.js';
import { failureText } from './headlines.js';
import type { LoadRow } from './load-result.js';
import { keepTrial } from './platform-documents.js';
import { type DeploymentAddress, modelsBySize, type Place, unlessAborted, whileServing } from './serve.js';
import type { LoadSettings } from './settings.js';
import { lengthOfTrials, LONG_MS } from './trial-length.js';
import { computeOfferedRate, type TrialPlan } from './trials.js';

export type OnSample = (
  row: Pick<LoadRow, 'model' | 'offered_per_second' | 'seed'>,
  query: QueryRecord | SentQuery,
) => void;

export interface LoadRun {
  readonly settings: LoadSettings;
  readonly threads: number;
  readonly runtime: RuntimeSettings;
  readonly loadedBatch: number;
  readonly onSample?: OnSample | undefined;
  readonly deployment?: DeploymentAddress | undefined;
  readonly origin?: Pick<Origin, 'identities'>;
  readonly generations?: readonly Generation[];
  /** Words of the command line that say where and how models run. */
  readonly given?: readonly string[];
}

export interface Run extends LoadRun {
  readonly place: Place;
  readonly context: MeasuringContext;
  readonly bound: Bound | undefined;
  readonly agents: number;
  readonly tell: (step: string, done: number, total: number, label: string) => void;
}

export function buildRow({ name }: LoadedModel, trial: TrialPlan): Omit<LoadRow, 'measured' | 'predicted'> {
  const { plan, limit, seed } = trial.options;
  return {
    model: name,
    samples: [...trial.samples],
    batch_limit: limit,
    clients: plan.kind === 'closed' ? plan.clients : null,
    offered_per_second: computeOfferedRate(trial),
    seed,
  };
}

export async function measure(
  loaded: LoadedModel,
  plan: TrialPlan,
  generator: LoadGenerator,
  { bound, agents, onSample, context, place, settings }: Run,
): Promise<{ readonly row: LoadRow; readonly trial: RanTrial }> {
  const trial = await generator.trial(plan.options);
  const row = buildRow(loaded, plan);
  for (const query of [...trial.records, ...trial.unanswered]) onSample?.(row, query);
  const isOpen = plan.options.plan.kind === 'open';
  const summary = summarizeTrial(trial.records, trial, { bound, servers: agents, isOpen });
  const measured = buildMeasured(trial, summary);
  const percentiles = Object.entries({ p50: measured.p50_ms, p99: measured.p99_ms });
  const figures = percentiles.flatMap(([name, ms]) => (ms === null ? [] : `${name} ${Number(ms.toPrecision(4))} ms`));
  const offered = row.offered_per_second === null ? '' : `, ${Number(row.offered_per_second.toPrecision(4))}/s`;
  const shown = failureText(measured) ?? (figures.join(', ') || 'too few queries for percentiles');
  const found =
    measured.invalid !== null
      ? 'no result'
      : (measured.reason ?? (measured.ended === 'complete' ? shown : measured.ended));
  context.onEvent({ kind: 'note', level: 'info', message: `${row.model}${offered}: ${found}` });
  const { agent, runOptions } = place;
  const system = identifySystem(agent.description, runOptions);
  const whole = { ...row, measured, predicted: null };
  await keepTrial(loaded, whole, trial.records, { store: context.store, agent, system, scenario: settings.scenario });
  return { row: whole, trial };
}

/** A trial that was measured. */
export interface Tried {
  readonly plan: TrialPlan;
  readonly row: LoadRow;
}

export async function measureAll(
  loaded: LoadedModel,
  plans: readonly TrialPlan[],
  run: Run,
  { done, total }: { readonly done: number; readonly total: number },
): Promise<readonly Tried[]> {
  const { place, loadedBatch, settings, tell } = run;
  const tried: Tried[] = [];
  // Trials with the same sizes of runs share open models.
  const sizesOf = ({ samples, options: { limit } }: TrialPlan) => ({ samples, limit });
  for (const alike of groupedBy(plans, (plan) => JSON.stringify(sizesOf(plan))).values()) {
    const asked = { ...sizesOf(alike[0]), waitMs: settings.max_wait_ms };
    const models = await modelsBySize(loaded, loadedBatch, asked, place);
    const serving = whileServing(loaded.name, models, asked, place, async (generator) => {
      const found: Tried[] = [];
      for (const plan of alike) {
        if (place.signal.aborted) break;
        tell('load', done + tried.length + found.length, total, loaded.name);
        const { row } = await measure(loaded, plan, generator, run);
        found.push({ plan, row });
        if (row.measured?.ended === 'failed') break;
      }
      return found;
    });
    const served = await unlessAborted(place.signal, serving);
    if (served !== undefined) append(tried, withConditions(served.result, served.ends));
    if (place.signal.aborted || tried.at(-1)?.row.measured?.ended === 'failed') break;
  }
  return tried;
}

export function withConditions(tried: readonly Tried[], ends: readonly ServingEnd[]): readonly Tried[] {
  const shares = {
    steal_share: computeTakenShare(ends, 'stealMs'),
    others_share: computeTakenShare(ends, 'othersMs'),
  };
  return tried.map(({ plan, row }) => {
    return { plan, row: { ...row, measured: row.measured && { ...row.measured, ...shares } } };
  });
}

/** @param searched a rate near the largest one, where it is searched */
export function noteLength(name: string, { settings, context }: Run, searched?: number): void {
  const { ms, text } = lengthOfTrials(settings, searched);
  if (settings.measure && ms > LONG_MS) context.onEvent({ kind: 'note', level: 'info', message: `${name}: ${text}` });
}

/** Runs that show the service time before a search. */
const SERVICE_QUERIES = 20;

export async function measureServiceMs(loaded: LoadedModel, generator: LoadGenerator, run: Run): Promise<number> {
  const [samples = 1] = run.settings.batches;
  const plan = { kind: 'closed', clients: 1, thinkMs: [0], samples, queries: SERVICE_QUERIES, leastMs: 0 } as const;
  const trial = await generator.trial({ plan, dispatch: 'turns', seed: 1, limit: samples });
  const { serviceMeanMs, latencyMeanMs, failure, invalid } = summarizeTrial(trial.records, trial, {
    bound: undefined,
    servers: 1,
    isOpen: false,
  });
  // Servers of others do not say how long a run takes; then the answer's time counts.
  const ms = serviceMeanMs ?? latencyMeanMs;
  if (ms !== null && trial.end.kind === 'complete') return ms;
  throw new PlatformError(
    'unsupported',
    `${loaded.name} answers no queries: ${failure ?? invalid ?? 'no answer came'}`,
  );
}
