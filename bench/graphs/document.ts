import { mean, median } from '../../src/base/mean.js';
import type { ModelReport } from '../../plugins/dlbricks/report/report-schema.js';
import { isWide } from '../../plugins/dlbricks/report/summary-lines.js';
import { percent } from '../../plugins/dlbricks/report/figures.js';
import { modelOf, type Said } from './measure.js';

/** A graph, estimated on each occasion with made-up values, and with those of a run where its work depends on values. */
export interface Graph {
  readonly name: string;
  readonly said: Said[];
  readonly ofRun: Said[];
}

/** One occasion of a graph that has an estimate and a measurement of the whole model. */
interface Occasion {
  readonly model: ModelReport;
  readonly estimateMs: number;
  readonly wholesMs: readonly number[];
  readonly warning: string | undefined;
}

/** A graph over its occasions. Errors are those against the mean of all measurements of the whole model. */
interface Row {
  readonly name: string;
  readonly occasions: readonly Occasion[];
  readonly wholeMs: number;
  /** Half of the range of the measurements of the whole model, relative. */
  readonly wholeRange: number;
  /** Of the mean estimate, relative. */
  readonly error: number;
  /** Of each occasion's estimate, relative. */
  readonly errors: readonly number[];
}

/** Below this, an error counts by its microseconds as well. */
const SHORT_MS = 1;
const SHORT_ERROR = 0.2;
const SHORT_ERROR_MS = 0.05;

/** What the command says before the number; undefined without a warning. */
function warningOf(model: ModelReport, isShort: boolean): string | undefined {
  const madeUp = (model.made_up_values?.operators ?? []).map(({ operator, count }) => `${count} ${operator}`);
  if (madeUp.length > 0) return `made-up values decide the work of ${madeUp.join(', ')}`;
  if (model.coverage < 1) return `${percent(100 * model.coverage)} covered`;
  if (isShort) return 'short kernels';
  return isWide(model) ? 'wide interval' : undefined;
}

function occasionOf(said: Said): Occasion[] {
  if (said.kind === 'none') return [];
  const [model] = said.report.models;
  if (model?.estimate_ms == null || model.normalized_latency === null) return [];
  const isShort = said.report.warnings.some(({ cause }) => cause === 'short_kernels');
  const wholesMs = [model.end_to_end_first_ms, model.end_to_end_repeat_ms].filter((ms) => ms !== null);
  return [{ model, estimateMs: model.estimate_ms, wholesMs, warning: warningOf(model, isShort) }];
}

function rowOf(name: string, said: readonly Said[]): Row | undefined {
  const occasions = said.flatMap(occasionOf);
  if (occasions.length === 0) return undefined;
  const wholesMs = occasions.flatMap((occasion) => occasion.wholesMs);
  const wholeMs = mean(wholesMs);
  const errors = occasions.map(({ estimateMs }) => estimateMs / wholeMs - 1);
  const wholeRange = (Math.max(...wholesMs) - Math.min(...wholesMs)) / 2 / wholeMs;
  return { name, occasions, wholeMs, wholeRange, error: mean(errors), errors };
}

function signed(share: number): string {
  return `${share < 0 ? '' : '+'}${percent(100 * share)}`;
}

/** The warnings, or which kernel differs most on the first occasion. */
function remarkOf({ occasions }: Row): string {
  const warnings = occasions.flatMap(({ warning }) => warning ?? []);
  const [first] = warnings;
  if (first !== undefined) {
    return `warned${warnings.length < occasions.length ? ` ${warnings.length} of ${occasions.length} times` : ''}: ${first}`;
  }
  const worst = occasions[0]?.model.check?.bricks.find(({ is_outside: isOutside }) => isOutside === true);
  if (worst === undefined) return '';
  const times = [worst.bricks_ms, worst.kernels_ms].map((ms) => (ms ?? 0).toPrecision(3));
  return `${worst.operators.join('+')} (${worst.sequences}): ${times[0]} ms by its brick, ${times[1]} in the whole graph`;
}

function hitsOf({ occasions }: Row): readonly boolean[] {
  return occasions.flatMap(({ model }) => model.interval_hit ?? []);
}

function tableRow(row: Row): string {
  const { name, occasions, wholeMs, wholeRange, error, errors } = row;
  const widths = occasions.flatMap(({ model: { estimate_high_ms: high }, estimateMs }) => {
    return high === null ? [] : [high / estimateMs - 1];
  });
  const hits = hitsOf(row);
  return `| ${[
    name,
    occasions[0]?.model.kernels ?? '–',
    wholeMs.toPrecision(3),
    percent(100 * wholeRange),
    signed(error),
    errors.map(signed).join(', '),
    widths.length === 0 ? '–' : percent(100 * mean(widths)),
    hits.length === 0 ? '–' : `${hits.filter(Boolean).length} of ${hits.length}`,
    remarkOf(row),
  ].join(' | ')} |`;
}

function isPartial({ occasions }: Row): boolean {
  return occasions.some(({ model }) => model.made_up_values !== null || model.coverage < 1);
}

/** A graph counts as warned of if it is on most occasions. */
function isWarned({ occasions }: Row): boolean {
  return 2 * occasions.filter(({ warning }) => warning !== undefined).length > occasions.length;
}

function countWithin(errors: readonly number[], limit: number): string {
  return `${errors.filter((error) => Math.abs(error) <= limit).length} of ${errors.length}`;
}

function summarizeTrial(rows: readonly Row[]): string[] {
  const whole = rows.filter((row) => !isPartial(row));
  const plain = whole.filter((row) => !isWarned(row));
  const long = plain.filter(({ wholeMs }) => wholeMs >= SHORT_MS);
  const short = whole.filter(({ wholeMs }) => wholeMs < SHORT_MS);
  const ofMeans = long.map(({ error }) => error);
  // Each estimate alone counts by its own warning.
  const ofRuns = whole
    .filter(({ wholeMs }) => wholeMs >= SHORT_MS)
    .flatMap(({ occasions, errors }) => errors.filter((_error, i) => occasions[i]?.warning === undefined));
  const magnitudes = (errors: readonly number[]): string => {
    const all = errors.map(Math.abs);
    return `${percent(100 * mean(all))}, ${percent(100 * median(all))}`;
  };
  const near = short.filter(
    ({ error, wholeMs }) => Math.abs(error) <= SHORT_ERROR || Math.abs(error) * wholeMs <= SHORT_ERROR_MS,
  );
  const hits = whole.flatMap(hitsOf);
  return [
    `| graphs with an estimate and a measurement: ${rows.length} | mean of the estimates | each estimate |`,
    '|---|---:|---:|',
    `| with a warning before the number | ${rows.length - plain.length} | |`,
    `| of a millisecond or more, without a warning: mean and median error | ${magnitudes(ofMeans)} | ${magnitudes(ofRuns)} |`,
    `| ... within 5 % | ${countWithin(ofMeans, 0.05)} | ${countWithin(ofRuns, 0.05)} |`,
    `| ... within 10 % | ${countWithin(ofMeans, 0.1)} | ${countWithin(ofRuns, 0.1)} |`,
    `| shorter ones, also with a warning of short kernels or of a wide interval, within 20 % or 50 µs | ${near.length} of ${short.length} | |`,
    `| intervals that hold | | ${hits.filter(Boolean).length} of ${hits.length} |`,
  ];
}

const HEAD = [
  '| graph | kernels | whole (ms) | ± | error | each estimate | interval ± | holds | remarks |',
  '|---|---:|---:|---:|---:|---:|---:|---|---|',
];

/** The machine and the days of the reports. */
function conditionsOf(graphs: readonly Graph[]): string {
  const reports = graphs.flatMap(({ said }) => said.flatMap((one) => (one.kind === 'report' ? [one.report] : [])));
  const days = new Set(reports.flatMap(({ provenance }) => provenance?.created_at.slice(0, 10) ?? []));
  const machines = new Set(
    reports.map(({ system }) => {
      return `${system.processor}, ${system.cores} cores, ${system.framework} ${system.framework_version}`;
    }),
  );
  return `${[...machines].join('; ')}, one thread, batch 1. ${[...days].sort().join(' and ')}.`;
}

/** The lines of docs/results/graphs.md above its analysis. */
export function documentOf(graphs: readonly Graph[]): string[] {
  const rows = graphs.flatMap(({ name, said }) => rowOf(name, said) ?? []);
  const byLength = (one: Row, other: Row): number => other.wholeMs - one.wholeMs;
  const ofRuns = graphs.flatMap(({ name, ofRun }) => rowOf(name, ofRun) ?? []);
  const without = graphs.flatMap(({ name, said }) => {
    if (rowOf(name, said) !== undefined) return [];
    const [first] = said;
    const reasons = modelOf(first)?.missing.map(({ reason }) => reason) ?? [];
    const reason = first?.kind === 'none' ? first.reason : (reasons[0] ?? 'no measurement of the whole model');
    return [`| ${name} | ${reason.replaceAll('|', '/').replaceAll('\n', ' ').slice(0, 300)} |`];
  });
  return [
    '# Graphs from exporters',
    '',
    'Written by `make bench-graphs`. A person wrote the *Analysis*; it stays when the figures change.',
    '',
    `The graphs are made by [test/exporters](../../test/exporters/README.md), with random weights. ${conditionsOf(graphs)}`,
    'Each graph is measured whole, twice, and by its bricks with `dlbricks validate`, from an empty store, on several',
    'occasions with minutes between them. *Whole* is the mean of all measurements of the whole model, *±* half of their',
    'range. *Error* is the mean estimate divided by *whole*, less one, and *each estimate* likewise. *Holds* says how many',
    'intervals contain the mean of both measurements of their occasion. A remark without *warned* names the brick that',
    'differs most from its kernels in the whole graph on the first occasion, if that is more than its interval.',
    '',
    ...summarizeTrial(rows),
    '',
    ...HEAD,
    ...rows.toSorted(byLength).map(tableRow),
    ...(ofRuns.length === 0
      ? []
      : ['', 'Those with made-up values once more, with `--values-of-run`:', '', ...HEAD, ...ofRuns.map(tableRow)]),
    ...(without.length === 0 ? [] : ['', '| graph | why it has no figures |', '|---|---|', ...without]),
  ];
}
