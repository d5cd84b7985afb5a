import stringWidth from 'string-width';
import { oneLine } from './one-line.js';
import { wrap } from './wrap.js';

type Align = 'left' | 'right';

export interface TextTable<Cell = string> {
  readonly titles: readonly Cell[];
  /** Without them, all columns are aligned left. */
  readonly aligns?: readonly Align[];
  readonly rows: readonly (readonly Cell[])[];
  /** More about each cell: the interval of a number, its samples. */
  readonly hints?: readonly (readonly (string | undefined)[])[] | undefined;
  /** What cells have a part of: pages show it, and their script copies and saves it. */
  readonly wholes?: readonly (readonly (string | undefined)[])[] | undefined;
  /** Paths below the root of the platform's site; pages from disk have no links. */
  readonly links?: readonly (readonly (string | undefined)[])[] | undefined;
}

export interface AlignedTable<Cell = string> extends TextTable<Cell> {
  readonly aligns: readonly Align[];
}

export interface AnyColumn<Row, Cell> {
  readonly title: Cell;
  /** Left by default. */
  readonly align?: Align;
  readonly cell: (row: Row) => Cell;
  readonly hint?: (row: Row) => string | undefined;
  readonly whole?: (row: Row) => string;
  readonly link?: (row: Row) => string;
}

export interface Column<Row> extends AnyColumn<Row, string> {
  readonly align: Align;
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

export function textTable<Row, Cell = string>(
  columns: readonly AnyColumn<Row, Cell>[],
  rows: readonly Row[],
): AlignedTable<Cell> {
  return {
    titles: columns.map(({ title }) => title),
    aligns: columns.map(({ align = 'left' }) => align),
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

const PLAIN = /^[ -~]*$/;

function widthOf(line: string): number {
  return PLAIN.test(line) ? line.length : stringWidth(line);
}

/** Takes linear time. The last line has no line break. @param longest most characters in a line of each column's cells */
export function drawTable({ titles, aligns = [], rows }: TextTable, longest: readonly number[] = []): string {
  // Names are untrusted: none may begin another row or control the terminal.
  const body = rows.map((row) => row.map((cell, column) => inLines(oneLine(cell), longest[column] ?? Infinity)));
  const [head, ...cells] = [titles, ...body].map((row) => row.map((cell) => cell.split('\n')));
  const widths = titles.map(() => 0);
  for (const row of [head ?? [], ...cells]) {
    for (const [column, lines] of row.entries()) {
      for (const line of lines) widths[column] = Math.max(widths[column] ?? 0, widthOf(line));
    }
  }
  const rule = (left: string, middle: string, right: string): string => {
    return `${left}${widths.map((width) => '─'.repeat(width + 2)).join(middle)}${right}`;
  };
  const drawLine = (row: readonly (readonly string[])[], at: number): string => {
    const parts = widths.map((width, column) => {
      const line = row[column]?.[at] ?? '';
      const padding = ' '.repeat(width - widthOf(line));
      return aligns[column] === 'right' ? `${padding}${line}` : `${line}${padding}`;
    });
    return `│ ${parts.join(' │ ')} │`;
  };
  const drawRow = (row: readonly (readonly string[])[] = []): readonly string[] => {
    const height = row.reduce((most, { length }) => Math.max(most, length), 1);
    return Array.from({ length: height }, (_, at) => drawLine(row, at));
  };
  const under = cells.length === 0 ? [] : [rule('├', '┼', '┤')];
  return [rule('┌', '┬', '┐'), ...drawRow(head), ...under, ...cells.flatMap(drawRow), rule('└', '┴', '┘')].join('\n');
}
