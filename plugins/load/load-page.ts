import { type AlignedTable, drawn, type Page, stackText } from '../../src/plugin-api.js';
import { batchLines, boundLines, rateLines } from './headlines.js';
import { loadPlot } from './load-plot.js';
import type { LoadResult } from './load-result.js';
import { validationLines } from './validation.js';

export function loadPage(result: LoadResult, table: AlignedTable): Page {
  const { rows, system, settings } = result;
  const names = [...new Set(rows.map(({ model }) => model))].join(', ');
  const headline = [...boundLines(result), ...rateLines(result), ...batchLines(result), ...validationLines(result)];
  const lead = 'Latency counts from the scheduled time of a query.';
  return {
    title: `${names} under load (${settings.scenario}) on ${stackText(system)}`,
    verdict: headline.length === 0 ? undefined : `${headline.join('. ')}.`,
    sections: [{ title: 'Trials', lead, chart: rows.length === 0 ? undefined : drawn(loadPlot(result)), table }],
  };
}
