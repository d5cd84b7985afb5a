import type { EstimateResult } from '../report/evaluation-result.js';
import type { Report } from '../report/report.js';
import { reportResult } from '../report/report-result.js';
import { toTable } from '../report/table.js';
import { chromeTrace } from '../traces/chrome-trace.js';
import { timedEstimate } from '../traces/timed-estimate.js';
import type { Shown } from './exports.js';

/** A report, with the bricks of its estimates as a trace. */
export function shownReport(report: Report, { models, system }: Pick<EstimateResult, 'models' | 'system'>): Shown {
  return {
    result: () => reportResult(report),
    picture: () => chromeTrace(models.map((model) => timedEstimate(model, system))),
    text: (options) => toTable(report, options),
  };
}
