import Table from 'cli-table3';
import { oneLine } from './one-line.js';

type Align = 'left' | 'right';

/** A table for display. */
export interface TextTable {
  readonly titles: readonly string[];
  /** One for each title; all are left where there are none. */
  readonly aligns?: readonly Align[];
  readonly rows: readonly (readonly string[])[];
}

/** A column of a table, and its value for a row. */
export interface Column<Row> {
  readonly title: string;
  readonly align: Align;
  readonly cell: (row: Row) => string;
}

export function textTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): Required<TextTable> {
  return {
    titles: columns.map(({ title }) => title),
    aligns: columns.map(({ align }) => align),
    rows: rows.map((row) => columns.map(({ cell }) => cell(row))),
  };
}

/** A table with borders, for terminals; its last line is not ended. */
export function drawTable({ titles, aligns, rows }: TextTable): string {
  const table = new Table({
    head: [...titles],
    colAligns: aligns === undefined ? [] : [...aligns],
    style: { head: [], border: [], compact: true },
  });
  // Names are untrusted: none may begin another row or control the terminal.
  table.push(...rows.map((row) => row.map(oneLine)));
  return table.toString();
}
