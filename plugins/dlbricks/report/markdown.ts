import { columnsFor, summaryLines } from './columns.js';
import type { Report } from './report.js';

/** A cell's text as it is: nothing in it ends the cell or makes a link, an element or emphasis. */
function escape(text: string): string {
  return text.replace(/[\\|<&[\]*`]/g, '\\$&');
}

/** One row of a table. */
export function markdownRow(cells: readonly string[]): string {
  return `| ${cells.map(escape).join(' | ')} |`;
}

/** A GitHub-flavoured table and the summary below it. */
export function toMarkdown(report: Report): string {
  const columns = columnsFor(report);
  const lines = [
    markdownRow(columns.map(({ title }) => title)),
    markdownRow(columns.map(({ align }) => (align === 'right' ? '---:' : '---'))),
    ...report.models.map((model) => markdownRow(columns.map(({ cell }) => cell(model)))),
    '',
    ...summaryLines(report).map((line) => `- ${line}`),
  ];
  return `${lines.join('\n')}\n`;
}
