import {
  type Column,
  counted,
  finite,
  fittingTable,
  formatMs,
  left,
  oneLine,
  right,
  type TableResult,
  textTable,
  UNKNOWN,
  usedCores,
  z,
  drawn,
  type Page,
  stackText,
  heatMapSvg,
  linePlot,
  type Series,
} from '../../../src/plugin-api.js';
import { CUTS } from '../cut/cut.js';
import { meanIfAny } from '../estimate/statistics.js';
import type { EstimateResult } from '../report/evaluation-result.js';
import { wordsOfCut } from '../report/configuration.js';
import { ratio, percent } from '../report/figures.js';
import { modelReportSchema, type Report, reportSchema } from '../report/report-schema.js';
import { warningLines, leadingLines } from '../report/summary-lines.js';
import { jaccardAmong, jaccardSchema } from '../sharing/sharing-result.js';
import { calibrationPlot } from '../report/interval-scores.js';

const FORMAT = 'dlbricks-sweep/1';

const { provenance, system, summary } = reportSchema.shape;
const ofModel = modelReportSchema.shape;

const ms = z.number().nonnegative().nullable();
const number = z.number().nullable();

const rowSchema = z.strictObject({
  model: z.string(),
  layers: z.int(),
  sequences: z.int(),
  unique_bricks: z.int(),
  coverage: z.number().min(0).max(1),
  constructed_ms: ms.describe('Latency constructed from bricks'),
  constructed_low_ms: ms,
  constructed_high_ms: ms,
  measured_ms: ms.describe('Whole model'),
  normalized_latency: number.describe('constructed_ms / measured_ms; null where a sequence was not measured'),
  graph_signature: ofModel.graph_signature,
  preparing_seconds: ofModel.preparing_seconds,
  end_to_end_seconds: ofModel.end_to_end_seconds,
});

const configurationSchema = z.strictObject({
  cut: z.enum(CUTS),
  granularity: z.int().describe('Longest brick, in kernels or layers'),
  is_default: z.boolean().describe('Whether it is the default of the cut: `auto`'),
  unique_fraction_within: number.describe('Unique bricks over sequences of each model, mean over the models'),
  summary: summary.describe('unique_fraction is that of all models together'),
  models: z.array(rowSchema),
  jaccard: jaccardSchema,
});

export const sweepSchema = z.strictObject({
  format: z.literal(FORMAT),
  evaluation: z.string().nullable(),
  provenance,
  system,
  batch: z.int(),
  warnings: z.array(z.string()).default([]).describe('Why numbers of models may be far off'),
  configurations: z.array(configurationSchema),
});

export type Sweep = z.infer<typeof sweepSchema>;
type Configuration = Sweep['configurations'][number];
type Row = Configuration['models'][number];

export interface Swept {
  readonly report: Report;
  readonly result: Pick<EstimateResult, 'models'>;
  readonly isDefault: boolean;
}

function buildConfiguration({ report, result, isDefault }: Swept): Configuration {
  const { cut, granularity } = report.settings;
  const models = report.models.map((model, index) => ({
    model: model.name,
    layers: model.layers,
    sequences: result.models[index]?.estimate.sequences ?? 0,
    unique_bricks: model.unique_bricks,
    coverage: model.coverage,
    constructed_ms: model.estimate_ms,
    constructed_low_ms: model.estimate_low_ms,
    constructed_high_ms: model.estimate_high_ms,
    measured_ms: model.end_to_end_ms,
    normalized_latency: model.normalized_latency,
    graph_signature: model.graph_signature,
    preparing_seconds: model.preparing_seconds,
    end_to_end_seconds: model.end_to_end_seconds,
  }));
  const fractions = models.flatMap(({ unique_bricks: unique, sequences }) => ratio(unique, sequences) ?? []);
  const bricks = result.models.map(({ estimate }) => new Set(estimate.parts.map(({ benchmark }) => benchmark)));
  return {
    cut,
    granularity,
    is_default: isDefault,
    unique_fraction_within: finite(meanIfAny(fractions)),
    summary: report.summary,
    models,
    jaccard: jaccardAmong(bricks),
  };
}

/** A report has its protocol in its settings, and a sweep has no settings. */
function provenanceOfSweep({ provenance: ofReport, settings }: Report): Sweep['provenance'] {
  if (ofReport === null) return null;
  const { warmup_runs, runs, min_runs, time_budget_ms } = settings;
  const reasons = Object.fromEntries(Object.entries(ofReport.reasons).filter(([field]) => field !== 'protocol'));
  return { ...ofReport, protocol: { warmup_runs, runs, min_runs, time_budget_ms }, reasons };
}

/** The document of a sweep. @param all at least one, in the order in which they are shown */
export function buildSweep(all: readonly [Swept, ...Swept[]]): Sweep {
  const [{ report: first }] = all;
  const reports = all.map(({ report }) => report);
  return {
    format: FORMAT,
    evaluation: first.evaluation,
    provenance: provenanceOfSweep(first),
    system: first.system,
    batch: first.settings.batch,
    warnings: [...new Set([...leadingLines(reports), ...reports.flatMap((report) => warningLines(report, reports))])],
    configurations: all.map(buildConfiguration),
  };
}

function times(value: number | null): string {
  return value === null ? UNKNOWN : value.toFixed(2);
}

function share(value: number | null): string {
  return percent(value === null ? null : value * 100, 0);
}

const COLUMNS: readonly Column<Configuration>[] = [
  left('cut', ({ cut }) => cut),
  right('G', ({ granularity }) => String(granularity)),
  right('sequences', ({ summary: { sequences } }) => String(sequences)),
  right('unique', ({ summary: { unique } }) => String(unique)),
  right('normalized', ({ summary: { geomean_normalized_latency: value } }) => value?.toFixed(3) ?? UNKNOWN),
  right('mean error', ({ summary: { mape_percent: value } }) => percent(value)),
  right('worst', ({ summary: { worst_percent: value } }) => percent(value)),
  right('measured ratio', ({ summary: { ratios } }) => times(ratios.measured)),
  right("paper's ratio", ({ summary: { ratios } }) => times(ratios.paper)),
  right('ratio as run', ({ summary: { ratios } }) => times(ratios.as_run)),
  right('unique across', ({ summary: { unique_fraction: value } }) => share(value)),
  right('unique within', ({ unique_fraction_within: value }) => share(value)),
];

const MODEL_COLUMNS: readonly Column<Row & Pick<Configuration, 'cut' | 'granularity'>>[] = [
  left('model', ({ model }) => oneLine(model)),
  left('cut', ({ cut }) => cut),
  right('G', ({ granularity }) => String(granularity)),
  right('sequences', ({ sequences }) => String(sequences)),
  right('unique', ({ unique_bricks: unique }) => String(unique)),
  right('estimate (ms)', (row) => formatMs(row.constructed_ms)),
  right('measured (ms)', (row) => formatMs(row.measured_ms)),
  right('normalized', ({ normalized_latency: value }) => value?.toFixed(3) ?? UNKNOWN),
];

const DISPENSABLE = ['unique within', 'unique across', 'ratio as run', "paper's ratio", 'sequences'];

function listNotes({ system: machine, batch, configurations }: Sweep): readonly string[] {
  const models = configurations[0]?.models ?? [];
  const threads = usedCores(machine.threads, machine.cores);
  const known = configurations.flatMap(({ summary: { geomean_normalized_latency: value } }) => value ?? []);
  const notes: string[] = [
    `${oneLine(machine.processor)}, ${threads}, batch ${batch}, ${oneLine(machine.framework)} ${oneLine(machine.framework_version)}; ${counted(models.length, 'model')}`,
    'cut: models are divided into the kernels that the runtime executes, or into their layers; G: most of these in one sequence; unique: different sequences (bricks), each measured once',
  ];
  if (known.length > 0) {
    notes.push('normalized: constructed over measured latency, geometric mean over the models');
    notes.push('ratios: whole models over bricks, see docs/measuring.md; --export-csv has a row for each model');
  }
  const partial = configurations.flatMap(({ cut, granularity, models: rows }) => {
    const missing = rows.filter(({ coverage }) => coverage < 1).length;
    return missing === 0
      ? []
      : [`${wordsOfCut({ cut, granularity })}: ${counted(missing, 'model')} not covered completely`];
  });
  return [...notes, ...partial];
}

function modelRows({ configurations }: Sweep) {
  return configurations.flatMap(({ cut, granularity, models }) => models.map((row) => ({ ...row, cut, granularity })));
}

function sweepTables(sweep: Sweep) {
  return { all: textTable(COLUMNS, sweep.configurations), ofModels: textTable(MODEL_COLUMNS, modelRows(sweep)) };
}

export function sweepText(
  sweep: Sweep,
  { width, wide = false }: { readonly width: number | undefined; readonly wide?: boolean },
): string {
  const { text } = fittingTable(COLUMNS, sweep.configurations, { width, dispensable: wide ? [] : DISPENSABLE });
  const ofModels = wide ? [fittingTable(MODEL_COLUMNS, modelRows(sweep), { width, dispensable: [] }).text] : [];
  return `${[...sweep.warnings, text, ...ofModels, ...listNotes(sweep)].join('\n')}\n`;
}

export function sweepResult(sweep: Sweep): TableResult {
  const keys = Object.keys(rowSchema.shape) as (keyof Row)[];
  return {
    document: sweep,
    records: {
      keys: ['cut', 'granularity', ...keys, 'system', 'threads', 'batch'],
      rows: sweep.configurations.flatMap(({ cut, granularity, models }) =>
        models.map((row) => [
          cut,
          granularity,
          ...keys.map((key) => row[key]),
          sweep.system.fingerprint,
          sweep.system.threads,
          sweep.batch,
        ]),
      ),
    },
    table: sweepTables(sweep).all,
    warnings: sweep.warnings,
    notes: listNotes(sweep),
  };
}

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

interface SweepPlot {
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
