import Table from 'cli-table3';
import { oneLine } from './one-line.js';
import { wrap } from './wrap.js';

type Align = 'left' | 'right';

export interface TextTable {
  readonly titles: readonly string[];
  /** Without them, all columns are aligned left. */
  readonly aligns?: readonly Align[];
  readonly rows: readonly (readonly string[])[];
  /** More about each cell: the interval of a number, its samples. */
  readonly hints?: readonly (readonly (string | undefined)[])[] | undefined;
  /** What cells have a part of: pages show it, and their script copies and saves it. */
  readonly wholes?: readonly (readonly (string | undefined)[])[] | undefined;
  /** Paths below the root of the platform's site; pages from disk have no links. */
  readonly links?: readonly (readonly (string | undefined)[])[] | undefined;
}

export interface AlignedTable extends TextTable {
  readonly aligns: readonly Align[];
}

export interface Column<Row> {
  readonly title: string;
  readonly align: Align;
  readonly cell: (row: Row) => string;
  readonly hint?: (row: Row) => string | undefined;
  readonly whole?: (row: Row) => string;
  readonly link?: (row: Row) => string;
}

export function left<Row>(title: string, cell: Column<Row>['cell']): Column<Row> {
  return { title, align: 'left', cell };
}

export function right<Row>(title: string, cell: Column<Row>['cell'], hint?: Column<Row>['hint']): Column<Row> {
  return { title, align: 'right', cell, ...(hint && { hint }) };
}

export function filledColumns<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): readonly Column<Row>[] {
  return columns.filter(({ cell }) => rows.some((row) => cell(row) !== ''));
}

export function textTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): AlignedTable {
  return {
    titles: columns.map(({ title }) => title),
    aligns: columns.map(({ align }) => align),
    rows: rows.map((row) => columns.map(({ cell }) => cell(row))),
    hints: columns.some(({ hint }) => hint) ? rows.map((row) => columns.map(({ hint }) => hint?.(row))) : undefined,
    wholes: columns.some(({ whole }) => whole)
      ? rows.map((row) => columns.map(({ whole }) => whole?.(row)))
      : undefined,
    links: columns.some(({ link }) => link) ? rows.map((row) => columns.map(({ link }) => link?.(row))) : undefined,
  };
}

function shortened(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = Math.ceil((length - 1) / 2);
  return `${text.slice(0, length - 1 - end)}…${text.slice(text.length - end)}`;
}

function inLines(cell: string, longest: number): string {
  if (cell.length <= longest) return cell;
  return wrap(cell, longest, '')
    .split('\n')
    .map((line) => shortened(line, longest))
    .join('\n');
}

/** The last line has no line break. @param longest most characters in a line of each column's cells */
export function drawTable({ titles, aligns, rows }: TextTable, longest: readonly number[] = []): string {
  const table = new Table({
    head: [...titles],
    colAligns: aligns === undefined ? [] : [...aligns],
    style: { head: [], border: [], compact: true },
  });
  // Names are untrusted: none may begin another row or control the terminal.
  table.push(...rows.map((row) => row.map((cell, column) => inLines(oneLine(cell), longest[column] ?? Infinity))));
  return table.toString();
}
