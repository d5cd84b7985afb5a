import {
  type AgentDescription,
  type EvaluationRequest,
  idleSettings,
  isAbleTo,
  keepEstimates,
  type Limits,
  type LoadedModel,
  type ManifestIdentity,
  type MeasuringContext,
  PlatformError,
  type Protocol,
  remeasureAsked,
  runOptionsOf,
  type UnusableModel,
} from '../../src/plugin-api.js';
import { granularityOf } from './bricks/decompose.js';
import { type EstimateRequest, evaluateAll } from './evaluate.js';
import { composeGenerations } from './generation/compose-generation.js';
import { withDecoders } from './generation/decoders.js';
import type { Measure } from './measure/largest.js';
import type { Precision } from './measure/next-occasion.js';
import type { EstimateResult } from './report/evaluation-result.js';
import { listKeptEstimates } from './report/kept-estimates.js';
import type { Report } from './report/report-schema.js';
import { buildReport } from './report/report.js';
import type { Settings } from './settings.js';

export interface Estimation {
  readonly evaluation?: string | undefined;
  readonly identities?: readonly ManifestIdentity[] | undefined;
  readonly models: readonly LoadedModel[];
  /** Further models, which could not be read. */
  readonly unusable?: readonly UnusableModel[] | undefined;
  readonly settings: Settings;
  readonly threads: number;
  readonly batch: number;
  readonly protocol: Protocol;
  readonly limits: Limits;
  /** Address of a trace on a tracing server; by default as the environment says. */
  readonly traceUrlTemplate?: string | undefined;
  /** Start of the estimation, by performance.now(); by default the start of this process. */
  readonly startMs?: number | undefined;
}

/** The estimation of an evaluation of one combination. */
export function readEstimation({ evaluation: loaded, settings }: EvaluationRequest<Settings>): Estimation {
  const { manifest, identities, models, unusable, protocol, limits } = loaded;
  const { name: evaluation, threads, batch_size: batch, trace_url_template: traceUrlTemplate } = manifest;
  return { evaluation, identities, models, unusable, settings, threads, batch, protocol, limits, traceUrlTemplate };
}

function warnOfThreads(threads: number, { cores }: AgentDescription, tell: MeasuringContext['onEvent']): void {
  if (threads <= cores) return;
  const message = `${threads} threads on ${cores} cores: latencies will vary more; ask for fewer with --threads or \`threads\``;
  tell({ kind: 'note', level: 'warning', message });
}

/** Whether bricks are checked: where whole models are measured too, unless the cut or the runtime makes it impossible. */
function isChecked({ check, cut, measure_end_to_end: isWhole }: Settings, description: AgentDescription): boolean {
  return check ?? (isWhole && cut === 'kernel' && isAbleTo(description, 'trace'));
}

/** The reason for a provenance without weights. */
export const NO_WHOLE_MODEL = { weights: 'no whole model was run' };

/** @throws PlatformError `usage` where a setting needs measurements that another one forbids */
function measureOf({ measure, cut, measure_end_to_end: isWhole, check }: Settings): Measure {
  if (measure === 'all') return measure;
  const refuse = (what: string): PlatformError => {
    return new PlatformError('usage', `measure: ${measure} cannot be used with ${what}; leave one of them out`);
  };
  if (cut === 'layer') throw refuse('cut: layer, whose layers do not add up to the model');
  if (measure === 'none' && isWhole) throw refuse('measure_end_to_end, which measures whole models');
  if (measure === 'none' && check === true) throw refuse('check, which runs whole graphs');
  return measure;
}

export interface Estimated {
  readonly result: EstimateResult;
  readonly report: Report;
}

/**
 * A small model is measured within a second, so a short slowdown of the machine affects the whole measurement. The mean
 * over a few more processes is less affected.
 */
const MIN_REPEAT_MS = 3000;

function precisionOf({ settings }: Estimation): Precision {
  const { target_error: targetPercent, repeat_limit: repeatLimit } = settings;
  return { targetError: targetPercent / 100, repeatLimit, leastRepeatMs: MIN_REPEAT_MS };
}

/**
 * Measures the missing bricks, composes and reports, for `dlbricks run`, `dlbricks validate` and evaluations on a
 * server. The estimations of a sweep have one count of progress.
 *
 * @returns a result for each, in their order
 */
export async function runEstimations(
  estimations: readonly Estimation[],
  context: MeasuringContext,
): Promise<readonly Estimated[]> {
  const { description } = context.agent;
  const mostThreads = Math.max(...estimations.map(({ threads }) => threads));
  warnOfThreads(mostThreads, description, context.onEvent);
  const idle = new Set(estimations.flatMap(({ settings }) => idleSettings(settings)));
  for (const message of idle) context.onEvent({ kind: 'note', level: 'warning', message });
  const expanded = estimations.map(({ models, batch, settings: { generation } }) => {
    return generation === undefined ? { models, decoders: [] } : withDecoders(models, generation, batch);
  });
  const requests = estimations.map((estimation, index): EstimateRequest => {
    const { unusable, settings, threads, protocol, limits, traceUrlTemplate, startMs = 0 } = estimation;
    return {
      models: expanded[index]?.models ?? [],
      unusable,
      cut: settings.cut,
      granularity: settings.granularity,
      keepDynamic: settings.keep_dynamic,
      shorten: settings.shorten,
      values: settings.values,
      runOptions: runOptionsOf(threads, description, settings),
      protocol,
      limits,
      measureEndToEnd: settings.measure_end_to_end,
      check: isChecked(settings, description),
      measure: measureOf(settings),
      precision: precisionOf(estimation),
      remeasure: remeasureAsked(settings.remeasure),
      traceUrlTemplate,
      readingMs: performance.now() - startMs,
    };
  });
  const results = await evaluateAll(requests, context);
  const estimated = results.flatMap((result, index): Estimated[] => {
    const estimation = estimations[index];
    if (estimation === undefined) return [];
    const { evaluation, identities, settings, batch, protocol } = estimation;
    const report = buildReport(result, {
      evaluation,
      origin: {
        identities,
        models: expanded[index]?.models,
        agent: context.agent,
        reasons: settings.measure_end_to_end ? {} : NO_WHOLE_MODEL,
      },
      cut: settings.cut,
      granularity: granularityOf(settings, description),
      keepDynamic: settings.keep_dynamic,
      batch,
      protocol,
      targetError: settings.cut === 'kernel' ? precisionOf(estimation).targetError : undefined,
    });
    const { generation } = settings;
    if (generation === undefined) return [{ result, report }];
    const generations = composeGenerations(report, expanded[index]?.decoders ?? [], generation);
    return [{ result, report: { ...report, generations } }];
  });
  for (const [index, { result, report }] of estimated.entries()) {
    // An interrupted run knows less than the store may have already.
    if (result.interrupted) continue;
    await keepEstimates(context.store, result.system, listKeptEstimates(report, expanded[index]?.models ?? []));
  }
  return estimated;
}

/** One estimation, as {@link runEstimations}. */
export async function runEstimation(estimation: Estimation, context: MeasuringContext): Promise<Estimated> {
  const [estimated] = await runEstimations([estimation], context);
  if (estimated === undefined) throw new PlatformError('internal', 'an estimation ended without a result');
  return estimated;
}
