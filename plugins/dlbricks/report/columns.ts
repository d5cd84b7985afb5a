import { type Column, counted, formatMs, left, oneLine, right, UNKNOWN } from '../../../src/plugin-api.js';
import { describeCut, DEFAULT_SETTINGS, describeDimensions, isAlike, describeRuntime } from './configuration.js';
import type { ModelReport, Report } from './report-schema.js';
import { percent, relative, signedRelative } from './figures.js';

export interface Row {
  readonly model: ModelReport;
  readonly report: Report;
}

export function makeRows(reports: readonly Report[]): readonly Row[] {
  const rows = reports.flatMap((report) => report.models.map((model) => ({ model, report })));
  if (reports.length === 1) return rows;
  const names = [...new Set(rows.map(({ model }) => model.name))];
  return names.flatMap((name) => rows.filter(({ model }) => model.name === name));
}

/** What an estimate is that is not the time of the whole model, or that may be far off. */
function describeCaution({
  missing,
  coverage,
  predicted_percent: predicted,
  made_up_values: madeUp,
}: ModelReport): string {
  const lacks = missing.some(({ benchmark }) => benchmark === 'brick');
  const isPart = coverage < 1 && (predicted > 0 ? lacks : madeUp === null || lacks);
  if (isPart) return 'part: ';
  return madeUp === null ? '' : 'made up: ';
}

function estimateCell(model: ModelReport): string {
  const { estimate_ms: ms, estimate_high_ms: high } = model;
  if (ms === null) return UNKNOWN;
  const interval = high === null ? UNKNOWN : relative(high - ms, ms);
  return `${describeCaution(model)}${formatMs(ms)} ± ${interval}`;
}

function errorCell({ normalized_latency: normalized }: ModelReport): string {
  return normalized === null ? UNKNOWN : signedRelative(normalized - 1, 1);
}

function repeatDifference({ end_to_end_first_ms: first, end_to_end_repeat_ms: repeat }: ModelReport): string {
  return first === null || repeat === null ? UNKNOWN : relative(repeat - first, first);
}

function extendedCell({ extended }: ModelReport): string {
  return extended === null ? UNKNOWN : `${extended.optimized_with.join(' and ')} of ${extended.blocks} blocks`;
}

export function estimateHint({ model, report }: Row): string | undefined {
  const { estimate_ms: ms, estimate_low_ms: low, estimate_high_ms: high, bricks } = model;
  if (ms === null) return undefined;
  const level = percent(report.settings.confidence * 100, 0);
  const interval =
    low === null || high === null ? 'no interval' : `${level} interval ${formatMs(low)} to ${formatMs(high)} ms`;
  const runs = bricks.reduce((sum, brick) => sum + brick.runs, 0);
  return `estimate ${formatMs(ms)} ms; ${interval}; ${counted(bricks.length, 'brick')}, ${counted(runs, 'timed run')}; coverage ${percent(model.coverage * 100)}`;
}

function measuredHint({ model }: Row): string | undefined {
  if (model.end_to_end_ms === null) return undefined;
  return `the whole model, mean of two measurements: ${formatMs(model.end_to_end_first_ms)} ms; after everything else: ${formatMs(model.end_to_end_repeat_ms)} ms`;
}

const CONFIGURATION: readonly (Pick<Column<Row>, 'title' | 'align'> & { readonly of: (report: Report) => string })[] = [
  { title: 'evaluation', align: 'left', of: ({ evaluation }) => evaluation ?? UNKNOWN },
  { title: 'batch', align: 'right', of: ({ settings }) => String(settings.batch) },
  { title: 'threads', align: 'right', of: ({ system }) => String(system.threads) },
  { title: 'settings', align: 'left', of: (report) => describeRuntime(report) || DEFAULT_SETTINGS },
  { title: 'cut', align: 'left', of: describeCut },
];

const ONLY_DIFFERENT: ReadonlySet<string> = new Set(['evaluation', 'settings', 'cut']);

/** These columns are only in wide tables and tables of several reports. */
function configurationColumns(reports: readonly Report[], wide: boolean): readonly Column<Row>[] {
  if (!wide && reports.length === 1) return [];
  return CONFIGURATION.filter(({ title, of }) => !ONLY_DIFFERENT.has(title) || !isAlike(reports, of)).map(
    ({ title, align, of }) => ({ title, align, cell: ({ report }) => oneLine(of(report)) }),
  );
}

/** Titles of all further columns except the estimate and its comparison, the least important first. */
const FURTHER = ['inputs/s', 'extended from', 'parallelism', 'repeat', 'normalized', 'layers', 'unique bricks'];

/** For narrow terminals, the least important first: columns that are the same in all rows, then others. */
export function dispensableIn(reports: readonly Report[]): readonly string[] {
  return [...CONFIGURATION.filter(({ of }) => isAlike(reports, of)).map(({ title }) => title), ...FURTHER];
}

/** Of the columns that a table may have, those that are shown. */
export function chooseColumns<T>(columns: readonly (readonly [isShown: boolean, column: Column<T>])[]): Column<T>[] {
  return columns.flatMap(([isShown, column]) => (isShown ? [column] : []));
}

export function columnsFor(reports: readonly Report[], { wide }: { readonly wide: boolean }): readonly Column<Row>[] {
  const models = reports.flatMap((report) => report.models);
  const dimensionsOf = ({ model, report }: Row): string => oneLine(describeDimensions(model, report, reports));
  const hasDimensions = makeRows(reports).some((row) => dimensionsOf(row) !== '');
  const hasBatches = !isAlike(reports, ({ settings }) => settings.batch);
  const hasEndToEnd = models.some(({ end_to_end_ms: ms, missing }) => {
    return ms !== null || missing.some(({ benchmark }) => benchmark === 'end_to_end');
  });
  const has = (isThere: (model: ModelReport) => boolean): boolean => models.some(isThere);
  return [
    left('model', ({ model }) => oneLine(model.name)),
    ...configurationColumns(reports, wide),
    ...chooseColumns<Row>([
      [hasDimensions, left('dimensions', dimensionsOf)],
      [wide, right('layers', ({ model }) => String(model.layers))],
      [wide, right('unique bricks', ({ model }) => String(model.unique_bricks))],
      [has(({ extended }) => extended !== null), left('extended from', ({ model }) => extendedCell(model))],
      [true, right('estimate (ms)', ({ model }) => estimateCell(model), estimateHint)],
      [hasBatches, right('inputs/s', ({ model }) => formatMs(model.throughput_per_second))],
      [
        has(({ tokens_per_second: tokens }) => tokens !== null),
        right('tokens/s', ({ model }) => formatMs(model.tokens_per_second)),
      ],
      [wide, right('parallelism', ({ model: { parallelism: value } }) => value?.toFixed(2) ?? UNKNOWN)],
      [
        has(({ predicted_percent: predicted }) => predicted > 0),
        right('predicted', ({ model }) => percent(model.predicted_percent)),
      ],
      [has(({ coverage }) => coverage < 1), right('coverage', ({ model }) => percent(model.coverage * 100))],
      [hasEndToEnd, right('measured (ms)', ({ model }) => formatMs(model.end_to_end_ms), measuredHint)],
      [hasEndToEnd && wide, right('repeat', ({ model }) => repeatDifference(model))],
      [hasEndToEnd, right('error', ({ model }) => errorCell(model))],
      [
        hasEndToEnd && wide,
        right('normalized', ({ model: { normalized_latency: value } }) => value?.toFixed(3) ?? UNKNOWN),
      ],
    ]),
  ];
}
