import { createColors } from 'picocolors';
import {
  type Column,
  counted,
  fittingTable,
  formatMs,
  groupedBy,
  type Histogram,
  histogramChart,
  leftOutLines,
  oneLine,
  ownValue,
  type Page,
  type PageSection,
  rangeChart,
  type ShownResult,
  type ShowOptions,
  type TableResult,
  textTable,
  UNKNOWN,
  wrap,
  left,
  right,
} from '../../src/plugin-api.js';
import { type LatencyResult, type LatencyRow, latencyResultSchema } from './latency-result.js';

type LatencyColumn = Column<LatencyRow>;
type Cell = TableResult['records']['rows'][number][number];
type TimedRow = Extract<LatencyRow, { readonly runs: number }>;

/** Left out first on a narrow terminal. */
const DISPENSABLE = ['others', 'measured', 'mean (ms)', 'max (ms)', 'min (ms)', 'runs'];

function milliseconds(title: string, of: (row: TimedRow) => number | null | undefined): LatencyColumn {
  return right(title, (row) => {
    const value = 'reason' in row ? undefined : of(row);
    return formatMs(value);
  });
}

function columnsFor({ percentiles, models }: LatencyResult, { wide }: ShowOptions): readonly LatencyColumn[] {
  const hasDimensions = models.some(({ dimensions }) => dimensions !== '');
  const hasSettings = models.some(({ settings }) => settings !== '');
  const hasTokens = models.some((row) => !('reason' in row) && row.tokens_per_second !== null);
  const measuredCell = (row: LatencyRow): string => {
    return 'reason' in row || row.measured_at === null ? UNKNOWN : formatMinute(row.measured_at);
  };
  const columns: readonly (readonly [isShown: boolean, column: LatencyColumn])[] = [
    [true, left('model', ({ model }) => oneLine(model))],
    [true, right('batch', ({ batch }) => String(batch))],
    [hasDimensions, left('dimensions', ({ dimensions }) => oneLine(dimensions))],
    [true, right('threads', ({ threads }) => String(threads))],
    [hasSettings, left('settings', ({ settings }) => settings || 'default')],
    [true, right('runs', (row) => ('reason' in row ? UNKNOWN : String(row.runs)))],
    [wide, milliseconds('mean (ms)', (row) => row.trimmed_mean_ms)],
    [wide, milliseconds('min (ms)', (row) => row.min_ms)],
    ...percentiles.map((each) => {
      return [true, milliseconds(`p${each} (ms)`, ({ latency_ms: of }) => of[`p${each}`])] as const;
    }),
    [hasTokens, milliseconds('tokens/s', (row) => row.tokens_per_second)],
    [wide, milliseconds('max (ms)', (row) => row.max_ms)],
    [wide, left('measured', measuredCell)],
    [wide, right('others', othersCell)],
  ];
  return columns.flatMap(([isShown, column]) => (isShown ? [column] : []));
}

function othersCell(row: LatencyRow): string {
  const percent = 'reason' in row ? null : row.disturbance_percent;
  return percent === null ? UNKNOWN : `${percent.toFixed(0)} %`;
}

/** As in 2026-11-23 20:50 UTC. */
function formatMinute(time: string): string {
  return `${time.slice(0, 16).replace('T', ' ')} UTC`;
}

function storedNotes(models: readonly LatencyRow[]): readonly string[] {
  const times = models.flatMap((row) => ('reason' in row || !row.is_stored ? [] : (row.measured_at ?? []))).sort();
  const oldest = times[0];
  const newest = times.at(-1);
  if (oldest === undefined || newest === undefined) return [];
  const from = formatMinute(oldest);
  const to = formatMinute(newest);
  const what = times.length === models.length ? '' : `${times.length} of ${counted(models.length, 'row')}: `;
  const when = from === to ? `timed on ${from}` : `timed from ${from} to ${to}`;
  return [`${what}results from the store, ${when}; --fresh (remeasure: all in manifests) times anew`];
}

function notShown(models: readonly LatencyRow[]): readonly string[] {
  const timed = models.flatMap((row) => ('reason' in row ? [] : [row]));
  const reasons = timed.flatMap(({ model, not_shown: of }) => Object.values(of).map((reason) => ({ model, reason })));
  return [...groupedBy(reasons, ({ reason }) => reason)].map(([reason, rows]) => {
    const names = [...new Set(rows.map(({ model }) => model))].join(', ');
    return rows.length === timed.length ? reason : `${names}: ${reason}`;
  });
}

function configurationText({ batch, threads, settings }: LatencyRow): string {
  return [`batch ${batch}`, `threads ${threads}`, settings].filter((text) => text !== '').join(', ');
}

function listNotes({ processor, cores, framework, framework_version: version, models, warnings }: LatencyResult) {
  const failures = models.flatMap((row) => {
    return 'reason' in row ? [`${row.model}, ${configurationText(row)}: ${row.reason}`] : [];
  });
  const all = [
    ...failures,
    ...notShown(models),
    ...storedNotes(models),
    `${processor}, ${counted(cores, 'core')}, ${framework} ${version}`,
    ...warnings.map((warning) => `warning: ${warning}`),
  ];
  return all.map(oneLine);
}

function buildTableResult(result: LatencyResult): TableResult {
  const { models, percentiles } = result;
  const keys = [
    ...['model', 'batch', 'threads', 'system', 'runs', 'min_ms', 'trimmed_mean_ms', 'max_ms'],
    ...percentiles.map((each) => `p${each}_ms`),
    ...['dimensions', 'settings', 'tokens_per_second', 'disturbance_percent', 'measured_at', 'is_stored', 'reason'],
  ];
  const valuesOf = (row: LatencyRow): Readonly<Record<string, unknown>> => {
    if ('reason' in row) return row;
    const ofRuns = percentiles.map((each) => [`p${each}_ms`, row.latency_ms[`p${each}`]] as const);
    return { ...row, ...Object.fromEntries(ofRuns), is_stored: String(row.is_stored) };
  };
  const rows = models.map(valuesOf).map((values) => keys.map((key) => ownValue(values, key) as Cell));
  return {
    document: result,
    records: { keys, rows },
    table: textTable(columnsFor(result, { wide: true }), models),
    notes: listNotes(result),
  };
}

function rowName({ model, batch, threads, dimensions }: TimedRow): string {
  return [`${model}, batch ${batch}, ${counted(threads, 'thread')}`, dimensions].filter(Boolean).join(', ');
}

function histogramSections(timed: readonly TimedRow[]): readonly PageSection[] {
  const chart = histogramChart(
    'ms',
    timed.flatMap((row): Histogram[] => {
      const { histogram } = row;
      if (histogram === null) return [];
      return [{ name: rowName(row), from: histogram.from_ms, step: histogram.step_ms, counts: histogram.counts }];
    }),
  );
  return chart === undefined ? [] : [{ title: 'Distribution of the runs', chart }];
}

function buildPage(result: LatencyResult): Page {
  const { models, processor, cores, framework, framework_version: version } = result;
  const names = [...new Set(models.map(({ model }) => model))].join(', ');
  const timed = models.flatMap((row) => ('reason' in row ? [] : [row]));
  const sorted = timed.toSorted((a, b) => a.trimmed_mean_ms - b.trimmed_mean_ms);
  const fastest = sorted[0];
  const slowest = sorted.at(-1);
  const text = (row: (typeof timed)[number]): string => `${formatMs(row.trimmed_mean_ms)} ms (${row.model})`;
  const range = fastest && slowest && (timed.length === 1 ? text(fastest) : `${text(fastest)} to ${text(slowest)}`);
  const chart = rangeChart({
    unit: 'ms',
    words: { value: 'trimmed mean', interval: 'fastest to slowest run', other: 'median' },
    ranges: timed.map((row) => {
      const { min_ms: low, max_ms: high, trimmed_mean_ms: value, latency_ms: of, runs } = row;
      const name = rowName(row);
      const words = `${formatMs(value)} ms (${formatMs(low)} to ${formatMs(high)}), ${counted(runs, 'run')}`;
      return { name, value, low, high, other: of['p50'] ?? null, text: words };
    }),
  });
  return {
    title: `Latency of ${names} on ${processor}, ${counted(cores, 'core')}, ${framework} ${version}`,
    verdict:
      range === undefined
        ? 'No model could be timed.'
        : `${timed.length} of ${counted(models.length, 'configuration')} timed: ${range}.`,
    sections: [
      { title: 'Runs', chart, table: textTable(columnsFor(result, { wide: true }), models) },
      ...histogramSections(timed),
    ],
  };
}

export function shownLatencies(result: LatencyResult, options: ShowOptions): ShownResult {
  return {
    result: () => buildTableResult(result),
    page: () => buildPage(result),
    text: ({ color, width = Infinity }) => {
      const { bold } = createColors(color);
      const fitting = { width, dispensable: DISPENSABLE, bold };
      const table = fittingTable(columnsFor(result, options), result.models, fitting);
      const notes = listNotes(result).map((line) => wrap(line, width, '  '));
      return [table.text, ...leftOutLines(table, width), ...notes, ''].join('\n');
    },
  };
}

export function showLatencies(document: unknown, options: ShowOptions): ShownResult | undefined {
  const { data } = latencyResultSchema.safeParse(document);
  return data && shownLatencies(data, options);
}
