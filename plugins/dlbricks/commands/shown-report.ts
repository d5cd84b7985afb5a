import { groupedBy, type Shown } from '../../../src/plugin-api.js';
import type { Estimated } from '../estimation.js';
import { configurationOf, dimensionsOf } from '../report/configuration.js';
import { shownTable } from '../report/show-report.js';
import { chromeTrace, type WrittenModel } from '../traces/chrome-trace.js';
import { bestAsked, type BestOptions } from './options.js';
import { timedEstimate } from '../traces/timed-estimate.js';

/** The reports of a command in one table, with the bricks of their estimates as a trace. */
export function shownReports(
  shown: readonly Estimated[],
  { wide = false, ...asked }: BestOptions & { readonly wide?: boolean },
): Shown {
  return {
    ...shownTable(
      shown.map(({ report }) => report),
      { wide },
      bestAsked(asked),
    ),
    picture: () => {
      const reports = shown.map(({ report }) => report);
      const estimates = shown.flatMap(({ report, result: { models, system } }) => {
        return models.map((model, index) => {
          const shownModel = report.models[index];
          const dimensions = shownModel === undefined ? '' : dimensionsOf(shownModel, report, reports);
          const configuration = [configurationOf(report, reports), dimensions].filter((text) => text !== '').join(', ');
          return { written: timedEstimate(model, system), configuration };
        });
      });
      return chromeTrace(withDifferentNames(estimates));
    },
  };
}

interface Configured {
  readonly written: WrittenModel;
  readonly configuration: string;
}

/** Models of one system with different names, because readers of traces take those of one name for one model. */
function withDifferentNames(estimates: readonly Configured[]): readonly WrittenModel[] {
  const modelKey = ({ name, system }: WrittenModel): string => JSON.stringify([name, system]);
  const alike = groupedBy(estimates, ({ written }) => modelKey(written));
  const named = estimates.map(({ written, configuration }) => {
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
