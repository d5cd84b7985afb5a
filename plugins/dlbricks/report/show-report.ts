import type { ShownResult, ShowOptions } from '../../../src/plugin-api.js';
import type { BestAsked } from './best.js';
import { type Report, reportSchema, reportsSchema } from './report-schema.js';
import { reportPage } from './report-page.js';
import { reportResult } from './report-result.js';
import { toTable } from './table.js';

export function shownTable(reports: readonly Report[], { wide }: ShowOptions, best?: BestAsked): ShownResult {
  return {
    result: () => reportResult(reports, best),
    page: () => reportPage(reports),
    text: (options) => toTable(reports, { ...options, wide, best }),
  };
}

/** The reports of a result document, which has one or several; undefined for one of another version. */
export function readResult(document: unknown): readonly Report[] | undefined {
  const one = reportSchema.safeParse(document).data;
  return one === undefined ? reportsSchema.safeParse(document).data?.reports : [one];
}

export function showReportsTogether(documents: readonly unknown[], options: ShowOptions): ShownResult | undefined {
  const reports = documents.map(readResult);
  return reports.every((several) => several !== undefined) ? shownTable(reports.flat(), options) : undefined;
}
