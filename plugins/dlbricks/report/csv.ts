import { csvField } from '../../../src/plugin-api.js';
import type { ModelReport, Report } from './report.js';

const COLUMNS = [
  'name',
  'layers',
  'unique_bricks',
  'coverage',
  'estimate_ms',
  'estimate_low_ms',
  'estimate_high_ms',
  'parallel_ms',
  'end_to_end_ms',
  'end_to_end_repeat_ms',
  'normalized_latency',
] as const satisfies readonly (keyof ModelReport)[];

/** One row a model, a header first; a figure that is not known is an empty field. */
export function toCsv({ models }: Report): string {
  const rows = models.map((model) => [...COLUMNS.map((column) => model[column]), model.missing.length].map(csvField));
  return [[...COLUMNS, 'missing'], ...rows].map((row) => `${row.join(',')}\r\n`).join('');
}
