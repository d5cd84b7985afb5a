import Table from 'cli-table3';
import type { AnalysisTable } from '../evaluation/analysis.js';
import { csvField, markdownTable, oneLine } from '../base/table-text.js';
import { ownValue } from '../base/own-value.js';

type Cell = string | number | null;

/** What stands where a figure is not known. */
const UNKNOWN = '-';

/** Four significant digits are what a latency is worth. */
function shown(cell: Cell | undefined): string {
  if (cell === null || cell === undefined) return UNKNOWN;
  if (typeof cell === 'string') return oneLine(cell);
  return Number.isInteger(cell) ? String(cell) : String(Number(cell.toPrecision(4)));
}

function titlesOf({ columns }: AnalysisTable): string[] {
  return columns.map(({ title, unit }) => oneLine(unit === undefined ? title : `${title} (${unit})`));
}

function cellsOf({ columns, rows }: AnalysisTable): string[][] {
  return rows.map((row) => columns.map(({ key }) => shown(ownValue(row, key))));
}

/** For people. */
export function tableText(table: AnalysisTable): string {
  const drawn = new Table({
    style: { head: [], border: [], compact: true },
    head: titlesOf(table),
    colAligns: table.columns.map(({ align }) => align),
  });
  drawn.push(...cellsOf(table));
  return `${[drawn.toString(), ...table.notes.map(oneLine)].join('\n')}\n`;
}

function toCsv({ columns, rows }: AnalysisTable): string {
  const keys = columns.map(({ key }) => key);
  const lines = rows.map((row) => keys.map((key) => csvField(ownValue(row, key))));
  return [keys, ...lines].map((fields) => `${fields.join(',')}\r\n`).join('');
}

function toMarkdown(table: AnalysisTable): string {
  return markdownTable({
    titles: titlesOf(table),
    aligns: table.columns.map(({ align }) => align),
    rows: cellsOf(table),
    notes: table.notes.map(oneLine),
  });
}

/** A table as other programs read it: every digit, unless it is for people. */
export const TABLE_FORMATS = {
  json: (table: AnalysisTable) => `${JSON.stringify(table, null, 2)}\n`,
  csv: toCsv,
  markdown: toMarkdown,
} as const;
