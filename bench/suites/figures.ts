import { LEVELS } from '../../plugins/dlbricks/estimate/statistics.js';
import { ratio, type Accuracy, computeAccuracy } from '../../plugins/dlbricks/report/figures.js';
import { sumOf } from '../../src/base/sum-of.js';
import type { SuiteConfiguration } from './configuration.js';
import type { Exported, ExportedModel } from './exported.js';

/**
 * The cost of whole models over the cost of bricks; null where a brick is not measured, or where no whole model is
 * measured. A whole model that could not be measured counts only with the time of the attempt, so the ratios are then
 * too low.
 */
export interface Ratios {
  /** One run of every model over one run of every different brick: the paper's rule. */
  readonly paper: number | null;
  /** Wall time to measure each model once over wall time to measure each brick once, everything included. */
  readonly wall: number | null;
  /** The same, with identical graphs counted once on both sides. */
  readonly wallOnce: number | null;
  /** With every occasion on both sides. */
  readonly asRun: number | null;
}

/** The figures of a configuration in a document, besides its models. */
export interface Figures extends Accuracy, Ratios {
  readonly models: number;
  readonly compared: number;
  readonly layers: number;
  readonly sequences: number;
  readonly unique: number;
  /** Number of intervals, and of those that contain the measured latency. */
  readonly intervals: { readonly all: number; readonly holding: number };
  /** How good intervals are at each level; see the report's summary. */
  readonly scores: IntervalScores;
  readonly crossChecked: IntervalScores;
  readonly repeatabilityPercent: number | null;
}

type IntervalScores = Exported['summary']['intervals'];

/** The scores of several reports together, each by its number of models. */
function joined(all: readonly IntervalScores[]): IntervalScores {
  return LEVELS.flatMap((level) => {
    const rows = all.flatMap((scores) => scores.filter((one) => one.level === level));
    const models = sumOf(rows.map((row) => row.models));
    if (models === 0) return [];
    const meanOf = (key: 'hit_percent' | 'half_width_percent' | 'score_percent'): number => {
      return sumOf(rows.map((row) => row[key] * row.models)) / models;
    };
    const means = {
      hit_percent: meanOf('hit_percent'),
      half_width_percent: meanOf('half_width_percent'),
      score_percent: meanOf('score_percent'),
    };
    return [{ level, models, ...means }];
  });
}

/** Whether a model's interval contains the measured latency; null where one of them is not known. */
export function holds({ coverage, lowMs, highMs, measuredMs }: ExportedModel): boolean | null {
  if (coverage < 1 || lowMs === null || highMs === null || measuredMs === null) return null;
  return lowMs <= measuredMs && measuredMs <= highMs;
}

function repeatedGraphs(models: readonly ExportedModel[]): readonly ExportedModel[] {
  const seen = new Set<string>();
  return models.filter(({ graph }) => {
    if (graph === null) return false;
    const isRepeated = seen.has(graph);
    seen.add(graph);
    return isRepeated;
  });
}

type Costs = NonNullable<Exported['summary']['costs']>;

function ratiosOf({ models, summaries }: SuiteConfiguration): Ratios {
  const costs = summaries.flatMap(({ costs: each }) => each ?? []);
  const isComplete = models.every(({ coverage }) => coverage === 1);
  if (!isComplete || models.every(({ measuredMs }) => measuredMs === null) || costs.length < summaries.length)
    return { paper: null, wall: null, wallOnce: null, asRun: null };
  const all = (key: keyof Costs): number => sumOf(costs.map((each) => each[key]));
  const reading = all('reading_seconds');
  const wholes = reading + all('models_first_seconds');
  const bricks = reading + all('bricks_first_seconds');
  const preparing = all('preparing_seconds');
  const repeated = repeatedGraphs(models);
  const prepared = (some: readonly ExportedModel[]): number => sumOf(some.map((each) => each.preparingSeconds ?? 0));
  // Several graphs are prepared concurrently, so the sum of their times exceeds the wall time: subtract their shares of
  // it.
  const preparingOnce = preparing * (1 - prepared(repeated) / (prepared(models) || 1));
  const wholesOnce = wholes - sumOf(repeated.map(({ wholeSeconds }) => wholeSeconds ?? 0));
  const oneRunOfModels = sumOf(models.map(({ measuredMs }) => measuredMs ?? 0));
  const oneRunOfBricks = summaries.map(({ bricks_ms: ms }) => ms);
  const again = all('models_again_seconds');
  return {
    paper: oneRunOfBricks.includes(null) ? null : ratio(oneRunOfModels, sumOf(oneRunOfBricks.map((ms) => ms ?? 0))),
    wall: ratio(wholes, bricks + preparing),
    wallOnce: models.some(({ graph }) => graph === null) ? null : ratio(wholesOnce, bricks + preparingOnce),
    asRun: again === 0 ? null : ratio(wholes + again, bricks + preparing + all('bricks_again_seconds')),
  };
}

/** The figures of a configuration's models together. */
export function figuresOf(configuration: SuiteConfiguration): Figures {
  const { models, summaries } = configuration;
  const normalized = models.flatMap(({ normalized: value }) => value ?? []);
  const intervals = models.flatMap((model) => holds(model) ?? []);
  const repeatability = summaries.flatMap(({ repeatability_percent: value, models: count }) => {
    return value === null ? [] : [{ value, count }];
  });
  return {
    models: models.length,
    compared: normalized.length,
    layers: sumOf(models.map(({ layers }) => layers)),
    sequences: sumOf(summaries.map(({ sequences }) => sequences)),
    unique: sumOf(summaries.map(({ unique }) => unique)),
    intervals: { all: intervals.length, holding: intervals.filter(Boolean).length },
    scores: joined(summaries.map(({ intervals: scores }) => scores)),
    crossChecked: joined(summaries.map(({ cross_checked_intervals: scores }) => scores)),
    repeatabilityPercent:
      repeatability.length === 0
        ? null
        : sumOf(repeatability.map(({ value, count }) => value * count)) /
          sumOf(repeatability.map(({ count }) => count)),
    ...computeAccuracy(normalized),
    ...ratiosOf(configuration),
  };
}
