import {
  buildProvenance,
  finite,
  latencyOfOutcome,
  type Origin,
  type Protocol,
  toSystemDocument,
  TRIM,
  withSnakeKeys,
} from '../../../src/plugin-api.js';
import { type EstimateResult, type ModelResult, wholeLatency } from './evaluation-result.js';
import type { Measure } from '../measure/largest.js';
import type { Cut } from '../cut/cut.js';
import { buildCriticalPath } from './critical-path.js';
import { listWarnings, withoutUnknownIntervals } from './warnings.js';
import { failureText } from '../estimate/brick-latency.js';
import { CONFIDENCE, type Interval } from '../estimate/statistics.js';
import type { ModelReport, Report } from './report-schema.js';
import { toPercent, ratio } from './figures.js';
import { summarizeReport } from './summary.js';

export interface ReportSettings {
  readonly evaluation?: string | undefined;
  readonly origin?: Origin | undefined;
  readonly cut: Cut;
  readonly granularity: number;
  readonly keep_dynamic?: boolean | undefined;
  readonly batch: number;
  readonly protocol: Protocol;
  /** none: the command measures nothing. */
  readonly measure?: Measure | undefined;
  /** Relative; undefined where bricks are not measured again. */
  readonly targetError?: number | undefined;
}

/** Facts that a report has in other parts. */
const IN_REPORT = {
  graph_sha256: 'see graph_signature of the models',
  protocol: 'see settings',
  stack: 'see system',
};

function listBricks({ parts }: ModelResult['estimate']): ModelReport['bricks'] {
  return parts.map(({ signature, operators, count, onPath, measured, ms: latencyMs, prediction, occasions, runs }) => ({
    signature,
    operators: [...operators],
    sequences: count,
    on_longest_path: onPath ?? null,
    measured: measured.way,
    copies: measured.way === 'copies' ? measured.copies : null,
    latency_ms: latencyMs ?? prediction?.ms ?? null,
    is_predicted: latencyMs === undefined && prediction !== undefined,
    occasions,
    runs,
  }));
}

function secondsOrNull(durationMs: number | undefined): number | null {
  return finite(durationMs === undefined ? undefined : durationMs / 1000);
}

function isInInterval(value: number | null, interval: Interval | undefined): boolean | null {
  if (value === null || interval?.lowMs === undefined || interval.highMs === undefined) return null;
  return interval.lowMs <= value && value <= interval.highMs;
}

function describeExtended({ extension }: ModelResult): ModelReport['extended'] {
  if (extension?.kind !== 'extended') return null;
  const { blocks, optimizedWith, wholeBytes, shortenedBytes } = extension;
  return {
    blocks: blocks.count,
    layers_of_block: blocks.length,
    optimized_with: [...optimizedWith],
    weight_bytes: wholeBytes,
    optimized_weight_bytes: shortenedBytes,
  };
}

function describeCheck({ check }: ModelResult): ModelReport['check'] {
  if (check === undefined) return null;
  if (check.kind === 'failed') {
    return { graph_ms: null, kernels_ms: null, bricks_ms: null, bricks: [], seconds: null, failure: check.reason };
  }
  const { graphMs, kernelsMs, bricksMs, bricks, costMs } = check;
  const compared = withSnakeKeys({ graphMs, kernelsMs, bricksMs, bricks });
  return { ...compared, seconds: secondsOrNull(costMs), failure: null };
}

function modelReport(
  result: ModelResult,
  { cut, batch }: Pick<ReportSettings, 'cut' | 'batch'>,
  preparingMs: number | undefined,
): ModelReport {
  const { estimate, endToEnd, limitedBy, kernels, inputs, kernelCheck, extension } = result;
  const end = (interval: Interval | undefined, bound: keyof Interval): number | null => finite(interval?.[bound]);
  const { madeUpValues: madeUp } = estimate;
  const endToEndMs = wholeLatency(endToEnd);
  const estimateMs = end(estimate.sequential, 'ms');
  /** A part of the model says nothing about how often the model runs. */
  const perSecond = (count: number): number | null =>
    estimateMs === null || estimate.missing.length > 0 ? null : ratio(count * 1000, estimateMs);
  return {
    name: estimate.name,
    cut,
    layers: estimate.layers,
    kernels: kernels ?? null,
    kernel_differences: kernelCheck?.kind === 'compared' ? withSnakeKeys(kernelCheck.differences) : null,
    check: describeCheck(result),
    assumed_inputs: (inputs?.assumed ?? []).map(({ name, values }) => ({ name, values })),
    dimensions: (inputs?.sizes ?? []).map(({ name, size }) => ({ name, size })),
    throughput_per_second: perSecond(batch),
    tokens_per_second: inputs?.tokens === undefined ? null : perSecond(inputs.tokens),
    extended: describeExtended(result),
    not_extended: extension?.kind === 'whole' ? extension.reason : null,
    made_up_values: madeUp ? { operators: [...madeUp.operators], kernels: madeUp.kernels } : null,
    values_of_run: result.runWith ?? null,
    unique_bricks: estimate.uniqueBricks,
    predicted_percent: toPercent(ratio(estimate.predictedMs, estimateMs) ?? undefined) ?? 0,
    coverage: estimate.coverage,
    estimate_ms: estimateMs,
    estimate_low_ms: end(estimate.sequential, 'lowMs'),
    estimate_high_ms: end(estimate.sequential, 'highMs'),
    parallel_ms: end(estimate.parallel, 'ms'),
    parallelism: ratio(estimateMs, end(estimate.parallel, 'ms')),
    longest_path: [...estimate.longestPath],
    critical_path: buildCriticalPath(estimate),
    end_to_end_ms: endToEndMs,
    graph_signature: result.graph ?? null,
    preparing_seconds: secondsOrNull(preparingMs),
    end_to_end_seconds: secondsOrNull(endToEnd?.first?.costMs),
    end_to_end_first_ms: latencyOfOutcome(endToEnd?.first?.outcome),
    end_to_end_repeat_ms: latencyOfOutcome(endToEnd?.repeat?.outcome),
    normalized_latency: estimate.isWhole ? ratio(estimateMs, endToEndMs) : null,
    interval_hit: estimate.isWhole ? isInInterval(endToEndMs, estimate.sequential) : null,
    measuring_error_percent: toPercent(estimate.measuringError),
    least_error_percent: toPercent(estimate.leastError),
    limited_by: limitedBy ?? null,
    bricks: listBricks(estimate),
    repeated_blocks: estimate.blocks.map(({ count, bricks }) => ({ count, bricks: [...bricks] })),
    missing: [
      ...estimate.missing.map(({ signature, operators, shapes, count, reason }) => {
        const brick = { benchmark: 'brick' as const, signature, operators: [...operators], shapes: [...shapes] };
        return { ...brick, sequences: count, reason };
      }),
      ...missingEndToEnd(endToEnd),
    ],
  };
}

function missingEndToEnd(endToEnd: ModelResult['endToEnd']): ModelReport['missing'] {
  if (endToEnd === undefined) return [];
  const { first, repeat, signature } = endToEnd;
  const missing = { benchmark: 'end_to_end' as const, signature, operators: [], shapes: [], sequences: 0 };
  // A failed measurement is not repeated.
  const wanted = first?.outcome.kind === 'failure' ? [first] : [first, repeat];
  return wanted.flatMap((measurement) => {
    if (measurement === undefined) return [{ ...missing, reason: 'interrupted before it was measured' }];
    const { outcome } = measurement;
    return outcome.kind === 'samples' ? [] : [{ ...missing, reason: failureText(outcome) }];
  });
}

export function isPartial({ models }: Report): boolean {
  return models.some(({ missing, made_up_values: madeUp }) => missing.length > 0 || madeUp !== null);
}

export function buildReport(
  given: EstimateResult,
  { evaluation, origin, cut, granularity, keep_dynamic = false, batch, protocol, measure, targetError }: ReportSettings,
): Report {
  const result = withoutUnknownIntervals(given);
  const { system } = result;
  const models = result.models.map((model, index) => {
    return modelReport(model, { cut, batch }, result.costs?.preparingOfModelsMs[index]);
  });
  return {
    evaluation: evaluation ?? null,
    provenance:
      origin === undefined ? null : buildProvenance({ ...origin, reasons: { ...IN_REPORT, ...origin.reasons } }),
    system: toSystemDocument(system),
    settings: {
      cut,
      granularity,
      keep_dynamic,
      batch,
      ...withSnakeKeys(protocol),
      target_error_percent: toPercent(targetError),
      statistic: `trimmed mean (${TRIM})`,
      confidence: CONFIDENCE,
    },
    models,
    generations: [],
    summary: summarizeReport(result, models),
    warnings: listWarnings(result, cut, measure !== 'none'),
  };
}
