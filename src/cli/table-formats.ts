import Table from 'cli-table3';
import type { AnalysisTable } from '../evaluation/analysis.js';

type Cell = string | number | null;

/** What stands where a figure is not known. */
const UNKNOWN = '-';

/** Whatever would end the line or be obeyed by a terminal is replaced. */
function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, '\ufffd');
}

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
  return rows.map((row) => columns.map(({ key }) => shown(row[key])));
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

/** RFC 4180; texts are kept from being read as formulas. */
function csvField(cell: Cell | undefined): string {
  if (typeof cell === 'number') return String(cell);
  const text = cell ?? '';
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function toCsv({ columns, rows }: AnalysisTable): string {
  const keys = columns.map(({ key }) => key);
  const lines = rows.map((row) => keys.map((key) => csvField(row[key])));
  return [keys, ...lines].map((fields) => `${fields.join(',')}\r\n`).join('');
}

function markdownRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replace(/[\\|<&[\]*`]/g, '\\$&')).join(' | ')} |`;
}

function toMarkdown(table: AnalysisTable): string {
  const lines = [
    markdownRow(titlesOf(table)),
    `| ${table.columns.map(({ align }) => (align === 'right' ? '---:' : '---')).join(' | ')} |`,
    ...cellsOf(table).map(markdownRow),
  ];
  const notes = table.notes.map((note) => `- ${oneLine(note)}`);
  return `${[...lines, ...(notes.length === 0 ? [] : ['', ...notes])].join('\n')}\n`;
}

/** A table as other programs read it: every digit, unless it is for people. */
export const TABLE_FORMATS = {
  json: (table: AnalysisTable) => `${JSON.stringify(table, null, 2)}\n`,
  csv: toCsv,
  markdown: toMarkdown,
} as const;
