import { maxOf } from './long-lists.js';
import { type Column, drawTable, textTable } from './text-table.js';
import { wrap } from './wrap.js';

export interface TableFitting {
  readonly width: number | undefined;
  /** Titles, the least important first. */
  readonly dispensable: readonly string[];
  readonly bold?: (text: string) => string;
}

export interface FittedTable {
  readonly text: string;
  readonly leftOut: readonly string[];
}

export function leftOutLines({ leftOut }: FittedTable, width = Infinity): readonly string[] {
  if (leftOut.length === 0) return [];
  return [wrap(`This terminal is too narrow for: ${leftOut.join(', ')}; --export-markdown - shows them.`, width, '  ')];
}

const MIN_CELL_WIDTH = 8;

function measureWidth(table: string): number {
  return Math.max(0, table.indexOf('\n'));
}

export function isWithin({ text }: FittedTable, width = Infinity): boolean {
  return measureWidth(text) <= width;
}

/** First breaks titles before their unit, then leaves out columns, then shortens the widest left-aligned texts. */
export function fittingTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { width = Infinity, dispensable, bold = (text) => text }: TableFitting,
): FittedTable {
  let shown = columns;
  const draw = (titleOf: (title: string) => string, longest?: readonly number[]): string => {
    const table = textTable(shown, rows);
    return drawTable({ ...table, titles: table.titles.map(titleOf) }, longest);
  };
  const inTwoLines = (title: string): string => title.split(' (').map(bold).join('\n(');
  let text = draw(bold);
  if (measureWidth(text) > width) text = draw(inTwoLines);
  const leftOut: string[] = [];
  for (const title of dispensable) {
    if (measureWidth(text) <= width) break;
    if (!shown.some((column) => column.title === title)) continue;
    leftOut.push(title);
    shown = shown.filter((column) => column.title !== title);
    text = draw(inTwoLines);
  }
  const excess = measureWidth(text) - width;
  if (excess > 0) text = draw(inTwoLines, narrowed(shown, rows, excess));
  return { text, leftOut };
}

/** Most characters in each column's cells, so that the table is narrower by `excess`. */
function narrowed<Row>(columns: readonly Column<Row>[], rows: readonly Row[], excess: number): readonly number[] {
  const longest = columns.map(({ align, cell }) =>
    align === 'left' ? Math.max(0, maxOf(rows.map((row) => cell(row).length))) : Infinity,
  );
  const byWidth = [...longest.entries()].filter(([, length]) => length < Infinity).sort(([, a], [, b]) => b - a);
  let left = excess;
  for (const [column, length] of byWidth) {
    const taken = Math.min(left, Math.max(0, length - MIN_CELL_WIDTH));
    longest[column] = length - taken;
    left -= taken;
  }
  return longest;
}
