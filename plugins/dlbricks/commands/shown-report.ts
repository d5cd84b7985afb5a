import { type DrawnGraph, graphDot, graphSvg, groupedBy, type Shown } from '../../../src/plugin-api.js';
import type { Estimated } from '../estimation.js';
import { describeConfiguration, describeRow } from '../report/configuration.js';
import { drawnEstimate } from '../report/critical-path.js';
import type { Report } from '../report/report-schema.js';
import { chromeTrace, type WrittenModel, timedEstimate } from '../traces/chrome-trace.js';
import { bestAsked, type BestOptions } from './options.js';
import { reportTable } from '../report/show-report.js';

export function shownReports(
  shown: readonly Estimated[],
  { wide = false, ...asked }: BestOptions & { readonly wide?: boolean },
): Shown {
  const reports = shown.map(({ report }) => report);
  const drawings = (): readonly DrawnGraph[] =>
    shown.flatMap(({ report, result: { models } }) =>
      models.map(({ estimate }, index) => {
        const configuration = configurationOfModel(report, index, reports);
        return drawnEstimate(estimate, [estimate.name, configuration].filter((text) => text !== '').join(', '));
      }),
    );
  return {
    ...reportTable(reports, { wide }, bestAsked(asked)),
    pictures: {
      trace: () => {
        const estimates = shown.flatMap(({ report, result: { models, system } }) =>
          models.map((model, index): Configured => {
            return [timedEstimate(model, system), configurationOfModel(report, index, reports)];
          }),
        );
        return chromeTrace(withDifferentNames(estimates));
      },
      svg: () => graphSvg(drawings()),
      dot: () => graphDot(drawings()),
    },
  };
}

function configurationOfModel(report: Report, index: number, reports: readonly Report[]): string {
  const model = report.models[index];
  return model === undefined ? describeConfiguration(report, reports) : describeRow(model, report, reports);
}

type Configured = readonly [written: WrittenModel, configuration: string];

/** Readers of traces take models of one system and name for one. */
function withDifferentNames(estimates: readonly Configured[]): readonly WrittenModel[] {
  const modelKey = ({ name, system }: WrittenModel): string => JSON.stringify([name, system]);
  const alike = groupedBy(estimates, ([written]) => modelKey(written));
  const named = estimates.map(([written, configuration]) => {
    const isAlone = alike.get(modelKey(written))?.length === 1;
    return isAlone ? written : { ...written, name: `${written.name}, ${configuration}` };
  });
  const uses = new Map<string, number>();
  return named.map((written) => {
    const use = (uses.get(modelKey(written)) ?? 0) + 1;
    uses.set(modelKey(written), use);
    return use === 1 ? written : { ...written, name: `${written.name} (${use})` };
  });
}
