import { finite, sumOf } from '../../../src/plugin-api.js';
import { spreadOfWholes } from '../estimate/spreads-of-system.js';
import { meanIfAny } from '../estimate/statistics.js';
import { computeCommonSpread, spreadOfBrick } from '../estimate/variance-components.js';
import type { Margin } from '../estimate/interval.js';
import { intervalScores, type Judged } from './interval-scores.js';
import type { Costs, EstimateResult, ModelResult, MeasuringCost } from './evaluation-result.js';
import type { ModelReport, Report } from './report-schema.js';
import { toPercent, ratio, computeAccuracy } from './figures.js';

function totalSeconds({ nowMs, beforeMs }: MeasuringCost): number {
  return (nowMs + beforeMs) / 1000;
}

function sumCosts(costs: Costs | undefined): Report['summary']['costs'] {
  if (costs === undefined) return null;
  const { bricksFirst, bricksAgain, modelsFirst, modelsAgain, delayMs = 0, checkMs = 0 } = costs;
  const phases = [bricksFirst, bricksAgain, modelsFirst, modelsAgain];
  return {
    reading_seconds: costs.readingMs / 1000,
    preparing_seconds: costs.preparingMs / 1000,
    bricks_first_seconds: totalSeconds(bricksFirst),
    bricks_again_seconds: totalSeconds(bricksAgain),
    models_first_seconds: totalSeconds(modelsFirst),
    models_again_seconds: totalSeconds(modelsAgain),
    delay_seconds: delayMs / 1000,
    check_seconds: checkMs / 1000,
    known_seconds: sumOf(phases.map(({ beforeMs }) => beforeMs)) / 1000,
  };
}

function oneRunOfEach({ models }: EstimateResult, reports: readonly ModelReport[]): { models: number; bricks: number } {
  const wholes = new Map(
    models.map(({ endToEnd }, index) => [endToEnd?.signature, reports[index]?.end_to_end_ms ?? 0]),
  );
  const bricks = new Map(
    models.flatMap(({ estimate }) => estimate.parts).map(({ benchmark, ms }) => [benchmark, ms ?? 0]),
  );
  return { models: sumOf(wholes.values()), bricks: sumOf(bricks.values()) };
}

/** The savings by bricks, counted in three ways; see docs/measuring.md. */
function computeRatios(result: EstimateResult, models: readonly ModelReport[]): Report['summary']['ratios'] {
  const costs = sumCosts(result.costs);
  const isComplete = models.every(({ coverage, end_to_end_ms: whole }) => coverage === 1 && whole !== null);
  if (costs === null || !isComplete || models.length === 0) return { paper: null, measured: null, as_run: null };
  const runs = oneRunOfEach(result, models);
  const { reading_seconds: reading, preparing_seconds: preparing } = costs;
  const wholes = reading + costs.models_first_seconds;
  const bricks = reading + preparing + costs.bricks_first_seconds;
  const isRepeated = models.every(({ end_to_end_repeat_ms: repeat }) => repeat !== null);
  return {
    paper: ratio(runs.models, runs.bricks),
    measured: ratio(wholes, bricks),
    as_run: isRepeated ? ratio(wholes + costs.models_again_seconds, bricks + costs.bricks_again_seconds) : null,
  };
}

export function summarizeReport(result: EstimateResult, models: readonly ModelReport[]): Report['summary'] {
  const normalized = models.flatMap(({ normalized_latency: value }) => (value === null ? [] : [value]));
  const repeatability = models.flatMap(({ end_to_end_first_ms: first, end_to_end_repeat_ms: repeat }) => {
    const share = ratio(repeat, first);
    return share === null ? [] : [Math.abs(share - 1) * 100];
  });
  const { bricks, reason, wholes } = result.spreads;
  const judged = (marginsOf: (model: ModelResult) => readonly Margin[]): readonly Judged[] => {
    return models.flatMap(({ estimate_ms: estimateMs, end_to_end_ms: measuredMs }, index) => {
      const model = result.models[index];
      if (!model?.estimate.isWhole || estimateMs === null || measuredMs === null) return [];
      return [{ estimateMs, measuredMs, margins: marginsOf(model) }];
    });
  };
  const hits = models.flatMap(({ interval_hit: hit }) => (hit === null ? [] : [Number(hit)]));
  return {
    models: models.length,
    layers: models.reduce((sum, { layers }) => sum + layers, 0),
    unique: result.uniqueBricks,
    sequences: result.sequences,
    bricks_ms: finite(oneRunOfEach(result, models).bricks),
    unique_fraction: ratio(result.uniqueBricks, result.sequences),
    ...computeAccuracy(normalized),
    interval_hit_percent: toPercent(meanIfAny(hits)),
    intervals: intervalScores(judged(({ estimate }) => estimate.margins)),
    cross_checked_intervals: intervalScores(judged(({ crossChecked = [] }) => crossChecked)),
    spread_percent: toPercent(bricks && spreadOfBrick(bricks)),
    common_spread_percent: toPercent(bricks && computeCommonSpread(bricks)),
    whole_spread_percent: toPercent(spreadOfWholes(wholes)?.relative),
    no_interval_reason: models.some(({ cut }) => cut === 'kernel') ? (reason ?? null) : null,
    machines: result.machines?.machines ?? null,
    machine_spread_percent: toPercent(result.machines?.relative),
    costs: sumCosts(result.costs),
    ratios: computeRatios(result, models),
    repeatability_percent: meanIfAny(repeatability) ?? null,
  };
}
