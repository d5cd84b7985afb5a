import Table from 'cli-table3';
import { createColors } from 'picocolors';
import { columnsFor, oneLine, summaryLines } from './columns.js';
import type { ModelReport, Report } from './report.js';

/** How many missing bricks are named per model before the rest is counted. */
const MOST_MISSING_SHOWN = 5;

function missingLines({ name, missing }: ModelReport): string[] {
  const shown = missing.slice(0, MOST_MISSING_SHOWN).map(({ benchmark, operators, sequences, reason }) => {
    const what = benchmark === 'end_to_end' ? 'the whole model' : `${sequences} x ${operators.join('+')}`;
    return `  ${oneLine(`${name}: missing ${what}: ${reason}`)}`;
  });
  const rest = missing.length - shown.length;
  return rest > 0 ? [...shown, `  ${oneLine(name)}: and ${rest} more; --export-json lists all`] : shown;
}

/** The report for people: a table, what is missing, and the summary. */
export function toTable(report: Report, options: { readonly color: boolean }): string {
  const colors = createColors(options.color);
  const columns = columnsFor(report);
  const table = new Table({
    head: columns.map(({ title }) => colors.bold(title)),
    colAligns: columns.map(({ align }) => align),
    style: { head: [], border: [], compact: true },
  });
  for (const model of report.models) table.push(columns.map(({ cell }) => cell(model)));
  const missing = report.models.flatMap(missingLines);
  return [table.toString(), ...missing.map((line) => colors.yellow(line)), ...summaryLines(report), ''].join('\n');
}
