import { type TableResult, textTable } from '../../../src/plugin-api.js';
import { columnsFor, summaryLines } from './columns.js';
import type { ModelReport, Report } from './report.js';

/** A model's row for spreadsheets, with the number of its missing benchmarks and the conditions of measuring. */
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

/** A report as it is exported; the JSON Schema of its document is docs/report.schema.json. */
export function reportResult(report: Report): TableResult {
  const { models, system, settings } = report;
  const conditions = [system.fingerprint, system.threads, settings.batch];
  return {
    document: report,
    records: {
      keys: [...KEYS, 'missing', 'system', 'threads', 'batch'],
      rows: models.map((model) => [...KEYS.map((key) => model[key]), model.missing.length, ...conditions]),
    },
    table: textTable(columnsFor(report), models),
    notes: summaryLines(report),
  };
}
