import type { ModelReport, Report } from '../../plugins/dlbricks/report/report.js';
import { formatMs } from '../../plugins/dlbricks/report/columns.js';
import type { Outcome } from './run-configuration.js';

/** What the project promises, by threads: mean and worst error, percent. */
const TARGETS: Readonly<Record<number, { readonly mean: number; readonly worst: number }>> = {
  1: { mean: 3, worst: 8 },
  2: { mean: 5, worst: 12 },
};

function percent(value: number | null, digits = 1): string {
  return value === null ? '-' : `${value.toFixed(digits)} %`;
}

function again({ end_to_end_ms: first, end_to_end_repeat_ms: repeat }: ModelReport): string {
  return first === null || repeat === null ? '-' : percent(((repeat - first) / first) * 100);
}

function row(model: ModelReport): string {
  const { estimate_ms: ms, estimate_high_ms: high, normalized_latency: normalized } = model;
  const margin = ms === null || high === null ? null : ((high - ms) / ms) * 100;
  const cells = [
    model.name,
    String(model.kernels ?? '-'),
    String(model.unique_bricks),
    formatMs(ms),
    percent(margin),
    formatMs(model.end_to_end_ms),
    again(model),
    normalized === null ? '-' : normalized.toFixed(3),
    model.interval_hit === null ? '-' : model.interval_hit ? 'yes' : 'no',
    model.limited_by?.replace('_', ' ') ?? '-',
  ];
  return `| ${cells.join(' | ')} |`;
}

const HEADER = [
  '| model | kernels | bricks | constructed (ms) | ± | end-to-end (ms) | again | normalized | within ± | bricks known to |',
  '|---|---:|---:|---:|---:|---:|---:|---:|---|---|',
];

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(2)} GB`;
}

function figures({ report, configuration, preparingSeconds, wholePeakBytes, brickPeakBytes }: Outcome): string[] {
  const { summary } = report;
  const target = TARGETS[configuration.threads];
  const aim = (value: number | undefined): string => (value === undefined ? '' : ` (target: at most ${value} %)`);
  return [
    '| | |',
    '|---|---|',
    `| mean absolute error | ${percent(summary.mape_percent)}${aim(target?.mean)} |`,
    `| worst | ${percent(summary.worst_percent)}${aim(target?.worst)} |`,
    `| geometric mean of normalized latency | ${summary.geomean_normalized_latency?.toFixed(3) ?? '-'} |`,
    `| repeatability of whole models on this machine | ${percent(summary.repeatability_percent)} |`,
    `| standard deviation of a brick between processes | ${percent(summary.spread_percent)} |`,
    `| intervals that hold the measured latency | ${percent(summary.interval_hit_percent)} (they claim ${report.settings.confidence * 100} %) |`,
    `| measuring the bricks, every occasion | ${summary.brick_seconds?.toFixed(1) ?? '-'} s |`,
    `| measuring the whole models, both occasions | ${summary.end_to_end_seconds?.toFixed(1) ?? '-'} s |`,
    `| loading and optimizing the graphs, as far as no cache had them | ${preparingSeconds.toFixed(1)} s |`,
    `| peak memory, whole models / bricks | ${gigabytes(wholePeakBytes)} / ${gigabytes(brickPeakBytes)} |`,
    ...report.warnings.map(({ message }) => `| noise | ${message} |`),
  ];
}

function section(outcome: Outcome): string[] {
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
    `![Predicted against measured latency](accuracy-${name}.svg)`,
    '',
    `![Benchmarking time as models are added](accuracy-${name}-time.svg)`,
    '',
  ];
}

function machine({ system }: Report): string {
  const { processor, cores, framework, framework_version: version, operating_system: os } = system;
  return `${processor}, ${cores} cores, ${os}, ${framework} ${version}, Node ${process.versions.node}`;
}

/** docs/accuracy.md. @param date as 2026-11-21 @param analysis what a person wrote below the figures, kept as it is */
export function accuracyDocument(outcomes: readonly Outcome[], date: string, analysis: string): string {
  const [first] = outcomes;
  return [
    '# Accuracy',
    '',
    'Written by `make bench-accuracy`; what stands under *Analysis* is by hand and stays.',
    '',
    `${first === undefined ? '' : machine(first.report)}. ${date}. Kernel cut, default settings.`,
    '',
    '*constructed* is the estimate, *normalized* = constructed / end-to-end. *again* is a second measurement of the whole model in',
    'another process, after everything else, relative to the first: the floor under every figure. *within ±*: whether the measured',
    "latency lies in the estimate's interval. How it is all done: [measuring.md](measuring.md).",
    '',
    ...outcomes.flatMap(section),
    analysis.trim() === '' ? '## Analysis\n' : analysis.trim(),
    '',
  ].join('\n');
}
