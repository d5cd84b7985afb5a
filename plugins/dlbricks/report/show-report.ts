import type { ShownResult, ShowOptions } from '../../../src/plugin-api.js';
import type { BestAsked } from './best.js';
import { type Report, reportSchema } from './report-schema.js';
import { reportPage } from './report-page.js';
import { reportResult } from './report-result.js';
import { toTable } from './table.js';

/** The reports of a command, as one table and as exports. */
export function shownTable(reports: readonly Report[], { wide }: ShowOptions, best?: BestAsked): ShownResult {
  return {
    result: () => reportResult(reports, best),
    page: () => reportPage(reports),
    text: (options) => toTable(reports, { ...options, wide, best }),
  };
}

/** The same for the result document of an evaluation; undefined for that of another version. */
export function showReport(document: unknown, options: ShowOptions): ShownResult | undefined {
  const { data } = reportSchema.safeParse(document);
  return data && shownTable([data], options);
}
