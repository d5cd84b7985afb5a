import { createColors } from 'picocolors';
import { type Column, drawTable, oneLine, textTable } from '../../../src/plugin-api.js';
import { operatorsLabel } from '../bricks/brick.js';
import { columnsFor, summaryLines } from './columns.js';
import type { ModelReport, Report } from './report.js';
import { wrap } from './wrap.js';

/** Most missing bricks that are named per model; the rest is counted. */
const MOST_MISSING_SHOWN = 5;

/** The columns that are left out first on a narrow terminal. */
const DISPENSABLE = ['parallelism', 'again', '±', 'unique', 'layers'];

export interface TableOptions {
  readonly color: boolean;
  /** Columns of the terminal; undefined: the table is as wide as its content. */
  readonly width?: number | undefined;
}

type Colors = ReturnType<typeof createColors>;

function missingLines({ name, missing }: ModelReport): string[] {
  // Both measurements of a whole model fail for the same reason as a rule.
  const distinct = missing.filter(({ benchmark, reason }, index) => {
    return benchmark === 'brick' || missing.findIndex((other) => other.reason === reason) === index;
  });
  const shown = distinct.slice(0, MOST_MISSING_SHOWN).map(({ benchmark, operators, shapes, sequences, reason }) => {
    const label = `${operatorsLabel(operators)}${shapes.length === 0 ? '' : ` (${shapes.join(', ')})`}`;
    const what = benchmark === 'end_to_end' ? 'the whole model' : sequences === 0 ? label : `${sequences} x ${label}`;
    return `  ${oneLine(`${name}: missing ${what}: ${reason}`)}`;
  });
  const rest = distinct.length - shown.length;
  return rest > 0 ? [...shown, `  ${oneLine(name)}: and ${rest} more; --export-json lists all`] : shown;
}

type Columns = readonly Column<ModelReport>[];

function draw({ models }: Report, columns: Columns, titleOf: (title: string) => string): string {
  const table = textTable(columns, models);
  return drawTable({ ...table, titles: table.titles.map(titleOf) });
}

/** Its first line is a border, of which each character takes one column. */
function widthOf(table: string): number {
  return table.indexOf('\n');
}

/** The table within a width. It breaks titles into two lines first, then leaves out columns and names them. */
function fittingTable(report: Report, colors: Colors, width: number): readonly string[] {
  let columns = columnsFor(report);
  let table = draw(report, columns, colors.bold);
  const leftOut: string[] = [];
  for (const title of ['', ...DISPENSABLE]) {
    if (widthOf(table) <= width) break;
    if (columns.some((column) => column.title === title)) leftOut.push(title);
    columns = columns.filter((column) => column.title !== title);
    table = draw(report, columns, (text) => text.split(' (').map(colors.bold).join('\n('));
  }
  if (leftOut.length === 0) return [table];
  const note = `This terminal is too narrow for: ${leftOut.join(', ')}; --export-markdown - shows them.`;
  return [table, wrap(note, width, '  ')];
}

/** The report for a terminal: the table, the missing bricks, and the summary. */
export function toTable(report: Report, { color, width = Infinity }: TableOptions): string {
  const colors = createColors(color);
  const missing = report.models.flatMap(missingLines).map((line) => wrap(line, width, '    '));
  const summary = summaryLines(report).map((line) => wrap(line, width, '  '));
  return [...fittingTable(report, colors, width), ...missing.map((line) => colors.yellow(line)), ...summary, ''].join(
    '\n',
  );
}
