import { fittingTable } from '../base/fitting-table.js';
import type { Column } from '../base/text-table.js';
import type { CommandHost } from '../evaluation/plugin.js';

/** Fits the terminal of standard output. @param dispensable titles, the least important first */
export function tableText<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  dispensable: readonly string[],
  { columns: width }: CommandHost,
): string {
  return `${fittingTable(columns, rows, { width: width?.out, dispensable }).text}\n`;
}
