import type { Shown } from '../../../src/plugin-api.js';
import type { EstimateResult } from '../report/evaluation-result.js';
import type { Report } from '../report/report-schema.js';
import { shownTable } from '../report/show-report.js';
import { chromeTrace } from '../traces/chrome-trace.js';
import { timedEstimate } from '../traces/timed-estimate.js';

/** A report, and the part of its result that a picture of it needs. */
export interface ShowableReport {
  readonly report: Report;
  readonly result: Pick<EstimateResult, 'models' | 'system'>;
}

/** The reports of a command in one table, with the bricks of their estimates as a trace. */
export function shownReports(shown: readonly ShowableReport[], { wide = false }: { readonly wide?: boolean }): Shown {
  return {
    ...shownTable(
      shown.map(({ report }) => report),
      { wide },
    ),
    picture: () => {
      const estimates = shown.flatMap(({ result: { models, system } }) => {
        return models.map((model) => timedEstimate(model, system));
      });
      return chromeTrace(estimates);
    },
  };
}
