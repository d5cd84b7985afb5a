import {
  assertEnoughCores,
  type BenchmarkAgent,
  type EvaluationRequest,
  idleSettings,
  isAbleTo,
  keepEstimates,
  type MeasuringContext,
  PlatformError,
  remeasureAsked,
  buildRunOptions,
} from '../../src/plugin-api.js';
import { chooseGranularity } from './bricks/decompose.js';
import { evaluateAll } from './evaluate.js';
import type { EstimateRequest } from './system-run.js';
import { withDecoders, composeGenerations } from './generation/generation.js';
import type { Measure } from './measure/largest.js';
import type { EstimateResult } from './report/evaluation-result.js';
import { listKeptEstimates } from './report/kept-estimates.js';
import type { Report } from './report/report-schema.js';
import { buildReport } from './report/report.js';
import type { Settings } from './settings.js';

type Given = 'evaluation' | 'identities' | 'models' | 'unusable' | 'batch' | 'protocol' | 'limits' | 'traceUrlTemplate';

interface EstimationToMake extends Pick<EstimateRequest, Given | 'settings'> {
  readonly threads: number;
  /** Start of the estimation, by performance.now(); by default the start of this process. */
  readonly startMs?: number | undefined;
}

/** @throws PlatformError `usage` where a setting needs measurements that another one forbids */
export function toEstimation(
  { settings, threads, startMs = 0, ...given }: EstimationToMake,
  { description }: Pick<BenchmarkAgent, 'description'>,
): EstimateRequest {
  const { target_error: targetPercent, repeat_limit: repeatLimit, measure_end_to_end: measureEndToEnd } = settings;
  return {
    ...given,
    ...settings,
    settings,
    runOptions: buildRunOptions(threads, description, settings),
    measureEndToEnd,
    check: settings.check ?? (measureEndToEnd && settings.cut === 'kernel' && isAbleTo(description, 'trace')),
    measure: checkMeasure(settings),
    precision: { targetError: targetPercent / 100, repeatLimit, leastRepeatMs: MIN_REPEAT_MS },
    remeasure: remeasureAsked(settings.remeasure),
    readingMs: performance.now() - startMs,
  };
}

export function readEstimation(
  { evaluation: loaded, settings }: EvaluationRequest<Settings>,
  agent: Pick<BenchmarkAgent, 'description'>,
  startMs?: number,
): EstimateRequest {
  const { manifest, identities, models, unusable, protocol, limits } = loaded;
  const { name: evaluation, threads, batch_size: batch, trace_url_template: traceUrlTemplate } = manifest;
  const given = { evaluation, identities, models, unusable, batch, protocol, limits, traceUrlTemplate };
  return toEstimation({ ...given, settings, threads, startMs }, agent);
}

export const NO_WHOLE_MODEL = { weights: 'no whole model was run' };

/** @throws PlatformError `usage` where a setting needs measurements that another one forbids */
function checkMeasure({ measure, cut, measure_end_to_end: isWhole, check, remeasure = 'none' }: Settings): Measure {
  if (measure === 'all') return measure;
  const refuse = (what: string): PlatformError => {
    return new PlatformError('usage', `measure: ${measure} cannot be used with ${what}; leave one of them out`);
  };
  if (cut === 'layer') throw refuse('cut: layer, whose layers do not add up to the model');
  if (measure === 'none' && isWhole) throw refuse('measure_end_to_end, which measures whole models');
  if (measure === 'none' && check === true) throw refuse('check, which runs whole graphs');
  if (measure === 'none' && remeasure !== 'none') throw refuse(`remeasure: ${remeasure}, which measures again`);
  return measure;
}

export interface Estimated {
  readonly result: EstimateResult;
  readonly report: Report;
}

/** So that a short slowdown of the machine does not affect all measurements of a small model. */
const MIN_REPEAT_MS = 3000;

/** The estimations have one count of progress, and a result each, in their order. */
export async function runEstimations(
  estimations: readonly EstimateRequest[],
  context: MeasuringContext,
): Promise<readonly Estimated[]> {
  const { description } = context.agent;
  for (const { runOptions } of estimations) assertEnoughCores(runOptions, description);
  const idle = new Set(estimations.flatMap(({ settings }) => idleSettings(settings)));
  for (const message of idle) context.onEvent({ kind: 'note', level: 'warning', message });
  const expanded = estimations.map(({ models, batch, settings: { generation } }) => {
    return generation === undefined ? { models, decoders: [] } : withDecoders(models, generation, batch);
  });
  const requests = estimations.map((estimation, index) => ({ ...estimation, ...expanded[index] }));
  const results = await evaluateAll(requests, context);
  const estimated = results.flatMap((result, index): Estimated[] => {
    const estimation = estimations[index];
    if (estimation === undefined) return [];
    const { identities, settings, cut, measureEndToEnd, precision } = estimation;
    const report = buildReport(result, {
      ...estimation,
      origin: {
        identities,
        models: expanded[index]?.models,
        agent: context.agent,
        reasons: measureEndToEnd ? {} : NO_WHOLE_MODEL,
      },
      granularity: chooseGranularity(estimation, description),
      targetError: cut === 'kernel' ? precision.targetError : undefined,
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

export async function runEstimation(asked: EstimationToMake, context: MeasuringContext): Promise<Estimated> {
  const [estimated] = await runEstimations([toEstimation(asked, context.agent)], context);
  if (estimated === undefined) throw new PlatformError('internal', 'an estimation ended without a result');
  return estimated;
}
