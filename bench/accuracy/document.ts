import { gigabytes } from '../../src/base/gigabytes.js';
import type { ModelReport, Report } from '../../plugins/dlbricks/report/report-schema.js';
import { percent } from '../../plugins/dlbricks/report/figures.js';
import { formatMs, UNKNOWN } from '../../src/base/format-ms.js';
import type { TableConfiguration } from './configurations.js';
import type { TableOutcome } from './run-configuration.js';

/** The project's targets for the mean and the worst error; percent. */
function targetOf({ threads, batch }: TableConfiguration): { readonly mean?: number; readonly worst?: number } {
  if (batch > 1) return { mean: 3 };
  return threads === 1 ? { mean: 1.5, worst: 5 } : { mean: 2.5, worst: 8 };
}

/** Error of the estimate, relative to the measured latency. */
function errorOf({ normalized_latency: normalized }: ModelReport): string {
  return percent(normalized === null ? null : (normalized - 1) * 100);
}

function repeatCell({ end_to_end_first_ms: first, end_to_end_repeat_ms: repeat }: ModelReport): string {
  return first === null || repeat === null ? UNKNOWN : percent(((repeat - first) / first) * 100);
}

function row(model: ModelReport): string {
  const { estimate_ms: ms, estimate_high_ms: high, normalized_latency: normalized } = model;
  const margin = ms === null || high === null ? null : ((high - ms) / ms) * 100;
  const cells = [
    model.name,
    String(model.kernels ?? UNKNOWN),
    String(model.unique_bricks),
    formatMs(ms),
    percent(margin),
    formatMs(model.end_to_end_ms),
    repeatCell(model),
    normalized === null ? UNKNOWN : normalized.toFixed(3),
    errorOf(model),
    model.interval_hit === null ? UNKNOWN : model.interval_hit ? 'yes' : 'no',
    model.limited_by?.replace('_', ' ') ?? UNKNOWN,
  ];
  return `| ${cells.join(' | ')} |`;
}

const HEADER = [
  '| model | kernels | bricks | constructed (ms) | ± | end-to-end (ms) | repeat | normalized | error | within ± | repeats limited by |',
  '|---|---:|---:|---:|---:|---:|---:|---:|---:|---|---|',
];

function ratio(value: number | null): string {
  return value === null ? UNKNOWN : value.toFixed(2);
}

/** The costs of estimates and of the alternative, and their ratios. */
function costFigures({ costs, ratios }: Report['summary']): string[] {
  const once = (first: number | undefined, repeated: number | undefined): string => {
    if (first === undefined || repeated === undefined) return UNKNOWN;
    return `${first.toFixed(1)} s once, ${repeated.toFixed(1)} s repeated`;
  };
  const before = costs === null ? UNKNOWN : `${(costs.reading_seconds + costs.preparing_seconds).toFixed(1)} s`;
  return [
    `| measuring the bricks | ${once(costs?.bricks_first_seconds, costs?.bricks_again_seconds)} |`,
    `| measuring the whole models | ${once(costs?.models_first_seconds, costs?.models_again_seconds)} |`,
    `| loading and optimizing the graphs | ${before} |`,
    `| whole models over bricks, the paper's: one run of each | ${ratio(ratios.paper)} |`,
    `| whole models over bricks, measured: each once, everything included | ${ratio(ratios.measured)} |`,
    `| whole models over bricks, as run: all that was measured | ${ratio(ratios.as_run)} |`,
  ];
}

/** Number and share of the intervals that contain the measured latency. The share alone says little for few models. */
export function intervalsThatHold(models: readonly Pick<ModelReport, 'interval_hit'>[]): string {
  const hits = models.flatMap(({ interval_hit: hit }) => (hit === null ? [] : [hit]));
  const held = hits.filter(Boolean).length;
  return hits.length === 0 ? UNKNOWN : `${held} of ${hits.length} models, ${percent((100 * held) / hits.length)}`;
}

/** Rows of a table: coverage, mean half width and mean interval score at each level. */
export function intervalFigures({
  intervals,
  cross_checked_intervals: crossed,
}: Pick<Report['summary'], 'intervals' | 'cross_checked_intervals'>): string[] {
  const rows = (scores: typeof intervals, what: string): string[] =>
    scores.map(({ level, models, hit_percent: hit, half_width_percent: half, score_percent: score }) => {
      const figures = `${percent(hit)} of ${models} hold, mean half width ${percent(half)}, interval score ${percent(score)}`;
      return `| intervals at ${level * 100} %${what} | ${figures} |`;
    });
  return [...rows(intervals, ''), ...rows(crossed, ', spreads from the other half of the models')];
}

function figures({ report, configuration, wholePeakBytes, brickPeakBytes }: TableOutcome): string[] {
  const { summary } = report;
  const { mean, worst } = targetOf(configuration);
  const aim = (value: number | undefined): string => (value === undefined ? '' : ` (target: at most ${value} %)`);
  return [
    '| | |',
    '|---|---|',
    `| mean absolute error | ${percent(summary.mape_percent)}${aim(mean)} |`,
    `| worst | ${percent(summary.worst_percent)}${aim(worst)} |`,
    `| geometric mean of normalized latency | ${summary.geomean_normalized_latency?.toFixed(3) ?? UNKNOWN} |`,
    `| repeatability of whole models on this machine | ${percent(summary.repeatability_percent)} |`,
    `| standard deviation of a brick between processes | ${percent(summary.spread_percent)} |`,
    `| intervals that contain the measured latency | ${intervalsThatHold(report.models)} (confidence level ${report.settings.confidence * 100} %) |`,
    ...intervalFigures(summary),
    ...costFigures(summary),
    `| peak memory, whole models / bricks | ${gigabytes(wholePeakBytes)} / ${gigabytes(brickPeakBytes)} |`,
    ...report.warnings.map(({ message }) => `| noise | ${message} |`),
  ];
}

function section(outcome: TableOutcome): string[] {
  const { configuration, report } = outcome;
  const { name, threads, batch } = configuration;
  const threadsText = threads === 1 ? 'One thread' : `${threads} threads`;
  return [
    `## ${threadsText}, batch ${batch}`,
    '',
    ...figures(outcome),
    '',
    ...HEADER,
    ...report.models.map(row),
    '',
    `![Predicted against measured latency](accuracy-${name}.svg) ![Error of the estimates, with their intervals](accuracy-${name}-residuals.svg)`,
    '',
    `![Benchmarking time as models are added](accuracy-${name}-time.svg) ![Calibration of the intervals](accuracy-${name}-calibration.svg)`,
    '',
  ];
}

function machine({ system }: Report): string {
  const { processor, cores, framework, framework_version: version, operating_system: os } = system;
  return `${processor}, ${cores} cores, ${os}, ${framework} ${version}, Node ${process.versions.node}`;
}

/**
 * docs/results/accuracy.md.
 *
 * @param date as 2026-11-21
 * @param analysis text that a person wrote below the figures; it is kept unchanged
 */
export function accuracyDocument(outcomes: readonly TableOutcome[], date: string, analysis: string): string {
  const [first] = outcomes;
  return [
    '# Accuracy',
    '',
    'Written by `make bench-accuracy`. A person wrote the *Analysis*; it stays when the figures change.',
    '',
    `${first === undefined ? '' : machine(first.report)}. ${date}.`,
    'Kernel cut, default settings.',
    '',
    '*constructed* is the estimate, *normalized* = constructed / end-to-end, *error* = normalized - 1. *repeat* is a second',
    'measurement of the whole model in another process, after everything else, relative to the first. No estimate can be',
    "more accurate than that. *within ±*: whether the measured latency lies in the estimate's interval. *Benchmarking time*",
    'is that of all measurements: both of each whole model, and all of each unique brick. The method:',
    '[measuring.md](../measuring.md).',
    '',
    ...outcomes.flatMap(section),
    analysis.trim() === '' ? '## Analysis\n' : analysis.trim(),
    '',
  ].join('\n');
}
