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

function byGranularity(
  sweep: Sweep,
  figures: readonly (readonly [label: string, of: (configuration: Configuration) => number | null])[],
): { readonly positions: readonly string[]; readonly series: readonly Series[] } {
  const sizes = [...new Set(sweep.configurations.map(({ granularity }) => granularity))].sort((a, b) => a - b);
  const series = byCut(sweep).flatMap(([cut, configurations]) => {
    return figures.map(([label, of]): Series => {
      const at = new Map(configurations.map((one) => [one.granularity, of(one) ?? undefined]));
      return { label: `${label}, ${cut} cut`, values: sizes.map((size) => at.get(size)) };
    });
  });
  return { positions: sizes.map(String), series };
}

export function sweepPlots(sweep: Sweep): readonly SweepPlot[] {
  const ratios = byGranularity(sweep, [
    ["the paper's", ({ summary }) => summary.ratios.paper],
    ['measured', ({ summary }) => summary.ratios.measured],
    ['as run', ({ summary }) => summary.ratios.as_run],
  ]);
  const unique = byGranularity(sweep, [
    ['across models', ({ summary }) => summary.unique_fraction],
    ['within models', (one) => one.unique_fraction_within],
  ]);
  const xTitle = 'longest brick (G), in kernels or layers';
  return [
    ...byCut(sweep).map(([cut, configurations]) => normalizedPlot(cut, configurations)),
    {
      file: 'ratios.svg',
      title: 'Whole models over bricks',
      svg: () => linePlot({ title: 'Whole models over bricks', xTitle, yTitle: 'ratio', isConnected: true, ...ratios }),
    },
    {
      file: 'unique.svg',
      title: 'Unique bricks over sequences',
      svg: () =>
        linePlot({ title: 'Unique bricks over sequences', xTitle, yTitle: 'share', isConnected: true, ...unique }),
    },
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
