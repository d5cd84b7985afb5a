import type { Exporter, TableResult } from './exporter.js';

/** RFC 4180; also kept from being read as a formula. */
function field(value: string | number | null | undefined): string {
  if (typeof value === 'number') return String(value);
  const text = value ?? '';
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const csv: Exporter<Pick<TableResult, 'records'>> = ({ records: { keys, rows } }) =>
  [keys, ...rows].map((row) => `${row.map(field).join(',')}\r\n`).join('');
