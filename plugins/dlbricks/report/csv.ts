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

/** RFC 4180: quoted where a field holds a comma, a quote or a line break; also kept from being read as a formula. */
export function csvField(value: string | number | null): string {
  if (typeof value === 'number') return String(value);
  const text = value ?? '';
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** One row a model, a header first; a figure that is not known is an empty field. */
export function toCsv({ models }: Report): string {
  const rows = models.map((model) => [...COLUMNS.map((column) => model[column]), model.missing.length].map(csvField));
  return [[...COLUMNS, 'missing'], ...rows].map((row) => `${row.join(',')}\r\n`).join('');
}
