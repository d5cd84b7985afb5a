import { heatMapSvg, linePlot, type Series } from '../../../src/plugin-api.js';
import { calibrationPlot } from '../report/interval-scores.js';
import type { Sweep } from './sweep-result.js';

type Configuration = Sweep['configurations'][number];

export interface SweepPlot {
  readonly file: string;
  readonly title: string;
  readonly svg: () => string;
}

function byCut({ configurations }: Sweep): readonly (readonly [Configuration['cut'], readonly Configuration[]])[] {
  const cuts = [...new Set(configurations.map(({ cut }) => cut))];
  return cuts.map((cut) => [cut, configurations.filter((one) => one.cut === cut)] as const);
}

function normalizedPlot(cut: string, configurations: readonly Configuration[]): SweepPlot {
  const models = configurations[0]?.models.map(({ model }) => model) ?? [];
  const title = `Normalized latency, ${cut} cut`;
  return {
    file: `normalized-${cut}.svg`,
    title,
    svg: () =>
      linePlot({
        title,
        xTitle: 'model',
        yTitle: 'constructed / measured',
        positions: models,
        reference: 1,
        series: configurations.map(({ granularity, models: rows }) => ({
          label: `G = ${granularity}`,
          values: rows.map(({ normalized_latency: value }) => value ?? undefined),
        })),
      }),
  };
}

function granularityPlot(
  sweep: Sweep,
  { file, title, yTitle }: Record<'file' | 'title' | 'yTitle', string>,
  figures: readonly (readonly [label: string, of: (configuration: Configuration) => number | null])[],
): SweepPlot {
  const sizes = [...new Set(sweep.configurations.map(({ granularity }) => granularity))].sort((a, b) => a - b);
  const series = byCut(sweep).flatMap(([cut, configurations]) => {
    return figures.map(([label, of]): Series => {
      const at = new Map(configurations.map((one) => [one.granularity, of(one) ?? undefined]));
      return { label: `${label}, ${cut} cut`, values: sizes.map((size) => at.get(size)) };
    });
  });
  const plot = { title, xTitle: 'longest brick (G), in kernels or layers', yTitle, isConnected: true, series };
  return { file, title, svg: () => linePlot({ ...plot, positions: sizes.map(String) }) };
}

export function sweepPlots(sweep: Sweep): readonly SweepPlot[] {
  const ratios = { file: 'ratios.svg', title: 'Whole models over bricks', yTitle: 'ratio' };
  const unique = { file: 'unique.svg', title: 'Unique bricks over sequences', yTitle: 'share' };
  return [
    ...byCut(sweep).map(([cut, configurations]) => normalizedPlot(cut, configurations)),
    granularityPlot(sweep, ratios, [
      ["the paper's", ({ summary }) => summary.ratios.paper],
      ['measured', ({ summary }) => summary.ratios.measured],
      ['as run', ({ summary }) => summary.ratios.as_run],
    ]),
    granularityPlot(sweep, unique, [
      ['across models', ({ summary }) => summary.unique_fraction],
      ['within models', (one) => one.unique_fraction_within],
    ]),
    ...sweep.configurations
      .filter(({ summary }) => summary.intervals.length > 0)
      .map(({ cut, granularity, summary }): SweepPlot => {
        const title = `Calibration of the intervals, ${cut} cut, G = ${granularity}`;
        return { file: `calibration-${cut}-${granularity}.svg`, title, svg: () => calibrationPlot(title, summary) };
      }),
    ...sweep.configurations.map(({ cut, granularity, models, jaccard: values }): SweepPlot => {
      const names = models.map(({ model }) => model);
      const title = `Unique bricks in common, ${cut} cut, G = ${granularity}`;
      return { file: `jaccard-${cut}-${granularity}.svg`, title, svg: () => heatMapSvg({ title, names, values }) };
    }),
  ];
}
