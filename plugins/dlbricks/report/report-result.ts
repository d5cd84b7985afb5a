import { type TableResult, textTable } from '../../../src/plugin-api.js';
import { columnsFor, rowsOf } from './columns.js';
import type { ModelReport, Report } from './report.js';
import { summaryLines } from './summary-lines.js';

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

/**
 * Reports as they are exported. The document is the report, whose JSON Schema is docs/report.schema.json; of a sweep it is
 * `{ "reports": [...] }`, one for each size of the batch and number of threads.
 */
export function reportResult(reports: readonly Report[]): TableResult {
  const [first] = reports;
  const rows = rowsOf(reports);
  return {
    document: reports.length === 1 ? first : { reports },
    records: {
      keys: [...KEYS, 'missing', 'system', 'threads', 'batch'],
      rows: rows.map(({ model, batch, threads, system }) => {
        return [...KEYS.map((key) => model[key]), model.missing.length, system, threads, batch];
      }),
    },
    table: textTable(columnsFor(reports, { wide: true }), rows),
    notes: summaryLines(reports, { wide: true }),
  };
}
