import { markdownTable } from '../../../src/plugin-api.js';
import { columnsFor, summaryLines } from './columns.js';
import type { Report } from './report.js';

/** A GitHub-flavoured table and the summary below it. */
export function toMarkdown(report: Report): string {
  const columns = columnsFor(report);
  return markdownTable({
    titles: columns.map(({ title }) => title),
    aligns: columns.map(({ align }) => align),
    rows: report.models.map((model) => columns.map(({ cell }) => cell(model))),
    notes: summaryLines(report),
  });
}
