import type { TableResult } from '../base/exporters/exporter.js';
import { UNKNOWN } from '../base/format-ms.js';
import { oneLine } from '../base/one-line.js';
import { ownValue } from '../base/own-value.js';
import { fittingTable, isWithin, leftOutLines } from '../base/fitting-table.js';
import { drawn } from '../web/charts.js';
import type { Shown } from './outputs.js';
import { wrap } from '../base/wrap.js';
import { type Column, filledColumns } from '../base/text-table.js';
import type { Page } from '../base/exporters/page.js';
import type { AnalysisTable } from '../evaluation/analysis.js';

type Cell = string | number | null;

/** A number that is not an integer has four significant digits. */
function shown(cell: Cell | undefined): string {
  if (cell === null || cell === undefined) return UNKNOWN;
  if (typeof cell === 'string') return oneLine(cell);
  return Number.isInteger(cell) ? String(cell) : String(Number(cell.toPrecision(4)));
}

function keyedResult({ columns, rows, notes }: AnalysisTable, document: object): TableResult {
  const keys = columns.map(({ key }) => key);
  return {
    document,
    records: { keys, rows: rows.map((row) => keys.map((key) => ownValue(row, key))) },
    table: {
      titles: columns.map(({ title, unit }) => oneLine(unit === undefined ? title : `${title} (${unit})`)),
      aligns: columns.map(({ align }) => align),
      rows: rows.map((row) => keys.map((key) => shown(ownValue(row, key)))),
    },
    notes: notes.map(oneLine),
  };
}

/** A longer text with spaces is a sentence, which is broken into lines before any column is left out. */
const NAME_LENGTH = 40;

function hasSentences({ rows }: TableResult['table']): boolean {
  return rows.some((row) => row.some((cell) => cell.length > NAME_LENGTH && cell.includes(' ')));
}

/**
 * For people.
 *
 * @param width columns of the terminal; undefined where there is none
 * @param kept titles of columns that are never left out
 */
function keyedText({ table, notes }: TableResult, width: number | undefined, kept: readonly string[]): string {
  const below = notes.map((note) => wrap(note, width ?? Infinity, '  '));
  if (table.rows.length === 0) return `${(below.length > 0 ? below : ['nothing to show']).join('\n')}\n`;
  const columns = table.titles.map((title, index): Column<readonly string[]> => {
    return { title, align: table.aligns[index] ?? 'left', cell: (row) => row[index] ?? '' };
  });
  const filled = filledColumns(columns, table.rows);
  // The first column is the subject of the table.
  const others = table.titles.slice(1).reverse();
  const dispensable = others.filter((title) => !kept.includes(title));
  const broken = hasSentences(table) ? fittingTable(filled, table.rows, { width, dispensable: [] }) : undefined;
  const fitted = broken && isWithin(broken, width) ? broken : fittingTable(filled, table.rows, { width, dispensable });
  return `${[fitted.text, ...leftOutLines(fitted, width), ...below].join('\n')}\n`;
}

interface About extends Pick<Page, 'title'>, Partial<Pick<Page, 'verdict'>> {
  readonly document: object;
  /** For pages and Markdown; in a terminal, progress has shown them. */
  readonly warnings?: readonly string[];
  readonly picture?: (() => string) | undefined;
  /** Titles of columns that no terminal is too narrow for, such as a verdict. */
  readonly kept?: readonly string[];
}

export function shownTable(
  table: AnalysisTable,
  { document, title, verdict, warnings = [], picture, kept = [] }: About,
): Shown {
  const result = { ...keyedResult(table, document), warnings: warnings.map(oneLine) };
  const chart = picture === undefined ? undefined : drawn(picture());
  return {
    result: () => result,
    page: () => ({ title, verdict, sections: [{ title: 'Table', ...(chart && { chart }), table: result.table }] }),
    text: ({ width }) => keyedText(result, width, kept),
    ...(picture && { pictures: { svg: picture } }),
  };
}
