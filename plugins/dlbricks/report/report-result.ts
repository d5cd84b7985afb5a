import { type TableResult, textTable, type z } from '../../../src/plugin-api.js';
import type { BestAsked } from './best.js';
import { columnsFor, makeRows } from './columns.js';
import { describeRuntime } from './configuration.js';
import type { ModelReport, Report, reportsSchema } from './report-schema.js';
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
  'end_to_end_repeat_ms',
  'normalized_latency',
] as const satisfies readonly (keyof ModelReport)[];

/** By docs/report.schema.json, or schemas/reports.schema.json for several. */
export function reportResult(reports: readonly Report[], best?: BestAsked): TableResult {
  const [first] = reports;
  const rows = makeRows(reports);
  return {
    document: reports.length === 1 ? first : ({ reports: [...reports] } satisfies z.infer<typeof reportsSchema>),
    records: {
      keys: [
        ...KEYS,
        'missing',
        'evaluation',
        'system',
        'threads',
        'batch',
        'dimensions',
        'tokens_per_second',
        'settings',
        'throughput_per_second',
      ],
      rows: rows.map(({ model, report }) => {
        const { evaluation, system, settings } = report;
        const configuration = [evaluation, system.fingerprint, system.threads, settings.batch];
        const dimensions = model.dimensions.map(({ name, size }) => `${name}=${size}`).join(', ');
        const rest = [dimensions, model.tokens_per_second, describeRuntime(report), model.throughput_per_second];
        return [...KEYS.map((key) => model[key]), model.missing.length, ...configuration, ...rest];
      }),
    },
    table: textTable(columnsFor(reports, { wide: true }), rows),
    warnings: leadingLines(reports),
    notes: summaryLines(reports, { wide: true, best }),
  };
}
