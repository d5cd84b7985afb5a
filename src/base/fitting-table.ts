import { type Column, drawTable, textTable } from './text-table.js';
import { wrap } from './wrap.js';

/** How a table is fitted into a terminal. */
export interface Fitting {
  /** Columns of the terminal; undefined: the table is as wide as its content. */
  readonly width: number | undefined;
  /** Titles of the columns that may be left out, the least important first. */
  readonly dispensable: readonly string[];
  /** Makes a title bold; by default it stays as it is. */
  readonly bold?: (text: string) => string;
}

export interface FittedTable {
  /** Its last line is not ended. */
  readonly text: string;
  /** Titles of the columns that are not in it. */
  readonly leftOut: readonly string[];
}

/** What a table does not show because of its width, and what shows it: a line, or none. */
export function leftOutLines({ leftOut }: FittedTable, width = Infinity): readonly string[] {
  if (leftOut.length === 0) return [];
  return [wrap(`This terminal is too narrow for: ${leftOut.join(', ')}; --export-markdown - shows them.`, width, '  ')];
}

/** A shorter cell would say nothing. */
const SHORTEST_CELL = 8;

/** Its first line is a border, of which each character takes one column. */
function widthOf(table: string): number {
  return Math.max(0, table.indexOf('\n'));
}

/** The text with its middle left out, where it is longer than that. */
function shortened(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = Math.ceil((length - 1) / 2);
  return `${text.slice(0, length - 1 - end)}…${text.slice(text.length - end)}`;
}

/**
 * Draws a table within a width. It breaks titles before their unit first, then leaves out columns, and at last shortens
 * the texts of the first column.
 */
export function fittingTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { width = Infinity, dispensable, bold = (text) => text }: Fitting,
): FittedTable {
  let shown = columns;
  const draw = (titleOf: (title: string) => string, longestName = Infinity): string => {
    const table = textTable(shown, rows);
    const cells = table.rows.map(([name = '', ...others]) => [shortened(name, longestName), ...others]);
    return drawTable({ ...table, rows: cells, titles: table.titles.map(titleOf) });
  };
  const inTwoLines = (title: string): string => title.split(' (').map(bold).join('\n(');
  let text = draw(bold);
  if (widthOf(text) > width) text = draw(inTwoLines);
  const leftOut: string[] = [];
  for (const title of dispensable) {
    if (widthOf(text) <= width) break;
    if (!shown.some((column) => column.title === title)) continue;
    leftOut.push(title);
    shown = shown.filter((column) => column.title !== title);
    text = draw(inTwoLines);
  }
  const excess = widthOf(text) - width;
  const [first] = shown;
  if (excess > 0 && first !== undefined) {
    const longest = Math.max(0, ...rows.map((row) => first.cell(row).length));
    text = draw(inTwoLines, Math.max(SHORTEST_CELL, longest - excess));
  }
  return { text, leftOut };
}
