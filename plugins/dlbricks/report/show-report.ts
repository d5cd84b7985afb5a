import { type ShownResult, type ShowOptions, type TableResult, textTable, type z } from '../../../src/plugin-api.js';
import type { BestAsked } from './best.js';
import { type Report, reportSchema, reportsSchema, type ModelReport } from './report-schema.js';
import { reportPage } from './report-page.js';
import { toTable } from './table.js';
import { columnsFor, makeRows, type Row } from './columns.js';
import { describeRuntime, describeSizes } from './configuration.js';
import { leadingLines, summaryLines } from './summary-lines.js';

const KEYS = [
  'name',
  'layers',
  'unique_bricks',
  'coverage',
  'estimate_ms',
  'estimate_low_ms',
  'estimate_high_ms',
  'parallelism',
  'end_to_end_ms',
  'end_to_end_first_ms',
  'end_to_end_repeat_ms',
  'normalized_latency',
] as const satisfies readonly (keyof ModelReport)[];

const FURTHER: readonly (readonly [key: string, cell: (row: Row) => string | number | null])[] = [
  ['missing', ({ model }) => model.missing.length],
  ['evaluation', ({ report }) => report.evaluation],
  ['system', ({ report }) => report.system.fingerprint],
  ['threads', ({ report }) => report.system.threads],
  ['batch', ({ report }) => report.settings.batch],
  ['dimensions', ({ model }) => describeSizes(model.dimensions)],
  ['tokens_per_second', ({ model }) => model.tokens_per_second],
  ['settings', ({ report }) => describeRuntime(report)],
  ['throughput_per_second', ({ model }) => model.throughput_per_second],
  ['predicted_percent', ({ model }) => model.predicted_percent],
];

/** By docs/report.schema.json, or schemas/reports.schema.json for several. */
export function reportResult(reports: readonly Report[], best?: BestAsked): TableResult {
  const [first] = reports;
  const rows = makeRows(reports);
  return {
    document: reports.length === 1 ? first : ({ reports: [...reports] } satisfies z.infer<typeof reportsSchema>),
    records: {
      keys: [...KEYS, ...FURTHER.map(([key]) => key)],
      rows: rows.map((row) => [...KEYS.map((key) => row.model[key]), ...FURTHER.map(([, cell]) => cell(row))]),
    },
    table: textTable(columnsFor(reports, { wide: true }), rows),
    warnings: leadingLines(reports),
    notes: summaryLines(reports, { wide: true, best }),
  };
}

export function reportTable(reports: readonly Report[], { wide }: ShowOptions, best?: BestAsked): ShownResult {
  return {
    result: () => reportResult(reports, best),
    page: () => reportPage(reports),
    text: (options) => toTable(reports, { ...options, wide, best }),
  };
}

/** The reports of a result document, which has one or several; undefined for one of another version. */
export function readResult(document: unknown): readonly Report[] | undefined {
  const one = reportSchema.safeParse(document).data;
  return one === undefined ? reportsSchema.safeParse(document).data?.reports : [one];
}

export function showReportsTogether(documents: readonly unknown[], options: ShowOptions): ShownResult | undefined {
  const reports = documents.map(readResult);
  return reports.every((several) => several !== undefined) ? reportTable(reports.flat(), options) : undefined;
}
