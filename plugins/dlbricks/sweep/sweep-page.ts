import { counted, drawn, type Page, stackText } from '../../../src/plugin-api.js';
import { wordsOfCut } from '../report/configuration.js';
import { percent } from '../report/words.js';
import { sweepPlots } from './sweep-plots.js';
import { sweepTables, type Sweep } from './sweep-result.js';

function formatVerdict({ configurations }: Sweep): string {
  const [best] = configurations
    .flatMap(({ cut, granularity, summary: { mape_percent: error } }) =>
      error === null ? [] : [{ cut, granularity, error }],
    )
    .sort((a, b) => a.error - b.error);
  if (best === undefined) return 'No estimate could be compared with a measured latency.';
  return `The smallest mean error is ${percent(best.error)}, with ${wordsOfCut(best)}.`;
}

export function sweepPage(sweep: Sweep): Page {
  const { system, batch, configurations } = sweep;
  const { all, ofModels } = sweepTables(sweep);
  const models = counted(configurations[0]?.models.length ?? 0, 'model');
  return {
    title: `${counted(configurations.length, 'way')} to cut ${models} on ${stackText(system)}, batch ${batch}`,
    verdict: formatVerdict(sweep),
    sections: [
      { title: 'Cuts and lengths', table: all },
      ...sweepPlots(sweep).map(({ title, svg }) => ({ title, chart: drawn(svg()) })),
      { title: 'Models', table: ofModels },
    ],
  };
}
