import { columnsFor, summaryLines } from './columns.js';
import type { Report } from './report.js';

/** A cell's text as it is: nothing in it ends the cell or makes a link, an element or emphasis. */
function escape(text: string): string {
  return text.replace(/[\\|<&[\]*`]/g, '\\$&');
}

/** A GitHub-flavoured table and the summary below it. */
export function toMarkdown(report: Report): string {
  const columns = columnsFor(report);
  const row = (cells: readonly string[]): string => `| ${cells.map(escape).join(' | ')} |`;
  const lines = [
    row(columns.map(({ title }) => title)),
    row(columns.map(({ align }) => (align === 'right' ? '---:' : '---'))),
    ...report.models.map((model) => row(columns.map(({ cell }) => cell(model)))),
    '',
    ...summaryLines(report).map((line) => `- ${line}`),
  ];
  return `${lines.join('\n')}\n`;
}
