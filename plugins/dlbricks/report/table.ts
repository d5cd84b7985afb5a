import { createColors } from 'picocolors';
import { fittingTable, leftOutLines, oneLine, wrap } from '../../../src/plugin-api.js';
import { operatorsLabel } from '../bricks/brick.js';
import type { BestAsked } from './best.js';
import { checkLines } from './check-lines.js';
import { describeConfiguration } from './configuration.js';
import { columnsFor, dispensableIn, type Row, makeRows } from './columns.js';
import type { Report } from './report-schema.js';
import { leadingLines, summaryLines } from './summary-lines.js';

const MAX_MISSING_SHOWN = 5;

export interface TableOptions {
  readonly color: boolean;
  readonly width?: number | undefined;
  readonly wide?: boolean;
  readonly best?: BestAsked | undefined;
}

export function rowName({ model, report }: Row, reports: readonly Report[]): string {
  return reports.length > 1 ? `${model.name}, ${describeConfiguration(report, reports)}` : model.name;
}

function missingLines(row: Row, reports: readonly Report[]): string[] {
  const name = rowName(row, reports);
  const { missing } = row.model;
  // Both measurements of a whole model fail for the same reason as a rule.
  const distinct = missing.filter(({ benchmark, reason }, index) => {
    return benchmark === 'brick' || missing.findIndex((other) => other.reason === reason) === index;
  });
  const shown = distinct.slice(0, MAX_MISSING_SHOWN).map(({ benchmark, operators, shapes, sequences, reason }) => {
    const label = `${operatorsLabel(operators)}${shapes.length === 0 ? '' : ` (${shapes.join(', ')})`}`;
    const what = benchmark === 'end_to_end' ? 'the whole model' : sequences === 0 ? label : `${sequences} x ${label}`;
    return `  ${oneLine(`${name}: missing ${what}: ${reason}`)}`;
  });
  const rest = distinct.length - shown.length;
  return rest > 0 ? [...shown, `  ${oneLine(name)}: and ${rest} more; --export-json lists all`] : shown;
}

export function toTable(
  reports: readonly Report[],
  { color, width = Infinity, wide = false, best }: TableOptions,
): string {
  const { bold, yellow } = createColors(color);
  const fitting = { width, dispensable: dispensableIn(reports), bold };
  const rows = makeRows(reports);
  const table = fittingTable(columnsFor(reports, { wide }), rows, fitting);
  const missing = rows.flatMap((row) => missingLines(row, reports));
  return [
    ...leadingLines(reports).map((line) => yellow(wrap(line, width, '  '))),
    table.text,
    ...leftOutLines(table, width),
    ...missing.map((line) => yellow(wrap(line, width, '    '))),
    ...rows.flatMap((row) => checkLines(row.model, rowName(row, reports))).map((line) => wrap(line, width, '    ')),
    ...summaryLines(reports, { wide, best }).map((line) => wrap(line, width, '  ')),
    '',
  ].join('\n');
}
