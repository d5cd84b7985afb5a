import { percent } from '../../plugins/dlbricks/report/figures.js';
import { formatMs, UNKNOWN } from '../../src/base/format-ms.js';
import type { SuiteConfiguration } from './configuration.js';
import type { ExportedModel } from './exported.js';
import { type Figures, figuresOf, holds } from './figures.js';
import { PAPER, type PaperRow, paperRow } from './paper.js';
import type { ModelSuite } from './suite.js';
import { LEVELS } from '../../plugins/dlbricks/estimate/statistics.js';

interface Shown {
  readonly configuration: SuiteConfiguration;
  readonly figures: Figures;
}

function times(value: number | null): string {
  return value === null ? UNKNOWN : value.toFixed(2);
}

function decimals(value: number | null): string {
  return value === null ? UNKNOWN : value.toFixed(3);
}

/** A ratio; it is too low where a whole model was not measured. */
function atLeastTimes(value: number | null, { models, compared }: Figures): string {
  return compared < models && value !== null ? `at least ${times(value)}` : times(value);
}

function count(value: number): string {
  return value.toLocaleString('en-US');
}

function nameOf({ cut, granularity }: SuiteConfiguration): string {
  return `${cut} cut, G = ${granularity}`;
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

/** A figure: its cell for each configuration, the paper's value, and the project's target. */
interface Line {
  readonly title: string;
  readonly of: (figures: Figures) => string;
  readonly paper?: string;
  readonly target?: string | undefined;
}

function atLeast(value: number | undefined): string | undefined {
  return value === undefined ? undefined : `at least ${value}`;
}

function atMost(value: number | undefined): string | undefined {
  return value === undefined ? undefined : `at most ${value} %`;
}

/** Coverage, mean half width and mean interval score at a level. */
function scoreText(scores: Figures['scores'], wanted: number): string {
  const found = scores.find(({ level }) => level === wanted);
  if (found === undefined) return UNKNOWN;
  const { models, hit_percent: hit, half_width_percent: half, score_percent: score } = found;
  return `${percent(hit)} of ${models} hold, ± ${percent(half)}, score ${percent(score)}`;
}

function linesOf({ targets }: ModelSuite): readonly Line[] {
  return [
    { title: 'models', of: ({ models }) => count(models), paper: count(PAPER.models) },
    { title: 'layers', of: ({ layers }) => count(layers), paper: count(PAPER.layers) },
    { title: 'sequences', of: ({ sequences }) => count(sequences), paper: count(PAPER.layers) },
    {
      title: 'unique bricks',
      of: ({ unique, sequences }) => `${count(unique)} (${percent((unique / sequences) * 100)})`,
      paper: `${count(PAPER.unique)} (${percent((PAPER.unique / PAPER.layers) * 100)})`,
    },
    {
      title: 'models with an estimate and a measurement',
      of: ({ compared }) => count(compared),
      paper: `${PAPER.compared}`,
    },
    {
      title: 'normalized latency, geometric mean',
      of: ({ geomean_normalized_latency: value }) => decimals(value),
      paper: decimals(PAPER.geomeanNormalized),
    },
    {
      title: 'mean error',
      of: ({ mape_percent: value }) => percent(value, 2),
      paper: percent(PAPER.meanErrorPercent, 2),
      target: atMost(targets.meanErrorPercent),
    },
    {
      title: 'worst error',
      of: ({ worst_percent: value }) => percent(value),
      paper: percent(PAPER.worstErrorPercent),
      target: atMost(targets.worstErrorPercent),
    },
    {
      title: 'within 5 %',
      of: ({ within_5_percent: within, compared }) => `${within} of ${compared}`,
      paper: `${PAPER.within5Percent} of ${PAPER.compared}`,
    },
    {
      title: "whole models over bricks, one run of each (the paper's speedup, by its own rule)",
      of: (figures) => atLeastTimes(figures.paper, figures),
      paper: decimals(PAPER.speedup),
      target: atLeast(targets.paperRatio),
    },
    {
      title: 'whole models over bricks, wall time, everything included, each model measured',
      of: (figures) => atLeastTimes(figures.wall, figures),
      target: atLeast(targets.wallRatio),
    },
    {
      title: 'the same, identical graphs counted once on both sides',
      of: (figures) => atLeastTimes(figures.wallOnce, figures),
      target: atLeast(targets.wallRatioOnce),
    },
    { title: 'wall time with every occasion on both sides', of: (figures) => atLeastTimes(figures.asRun, figures) },
    {
      title: 'intervals that contain the measured latency (claimed: 95 %)',
      of: ({ intervals }) => (intervals.all === 0 ? UNKNOWN : `${intervals.holding} of ${intervals.all}`),
    },
    ...LEVELS.flatMap((level): Line[] => [
      { title: `intervals at ${level * 100} %`, of: ({ scores }) => scoreText(scores, level) },
      {
        title: `intervals at ${level * 100} %, spreads from the other half of the models`,
        of: ({ crossChecked }) => scoreText(crossChecked, level),
      },
    ]),
    { title: 'repeatability of whole models', of: ({ repeatabilityPercent: value }) => percent(value) },
  ];
}

function figuresTable(suite: ModelSuite, shown: readonly Shown[]): readonly string[] {
  const isPaper = suite.name === 'icpe2020';
  const names = shown.map(({ configuration }) => nameOf(configuration));
  return [
    line(['', ...(isPaper ? ['the paper, G = 1'] : []), ...names, 'target']),
    line(['---', ...(isPaper ? ['---:'] : []), ...names.map(() => '---:'), '---']),
    ...linesOf(suite).map(({ title, of, paper = UNKNOWN, target = '' }) => {
      return line([title, ...(isPaper ? [paper] : []), ...shown.map(({ figures }) => of(figures)), target]);
    }),
  ];
}

/** The row of table 1 for a model of the paper, from the model's name; 0 for other models. */
function rowOf({ name }: ExportedModel): number {
  return Number(/^icpe2020_(\d+)_/.exec(name)?.[1] ?? 0);
}

/** Cells of the paper's columns beside ours. */
type PaperCells = (row: PaperRow | undefined) => string;

function modelsTable(suite: ModelSuite, { configuration }: Shown): readonly string[] {
  const isPaper = suite.name === 'icpe2020';
  const beside = (model: ExportedModel, own: string, cells: PaperCells): string[] => {
    return isPaper ? [cells(paperRow(rowOf(model))), own] : [own];
  };
  const titles = (title: string): string[] => (isPaper ? [`${title}: paper`, 'here'] : [title]);
  const header = [
    'model',
    ...titles('layers'),
    ...titles('unique'),
    ...titles('normalized'),
    'error',
    'constructed (ms)',
    '±',
    'measured (ms)',
    'within ±',
  ];
  const rows = configuration.models.map((model) => {
    const { name, layers, uniqueBricks, normalized, constructedMs, highMs, measuredMs, coverage } = model;
    const margin = constructedMs === null || highMs === null ? null : (highMs / constructedMs - 1) * 100;
    const held = holds(model);
    return line([
      name,
      ...beside(model, String(layers), (paper) => String(paper?.layers ?? UNKNOWN)),
      ...beside(model, String(uniqueBricks), (paper) => String(paper?.uniqueLayers ?? UNKNOWN)),
      ...beside(model, decimals(normalized), (paper) => decimals(paper?.normalized ?? null)),
      percent(normalized === null ? null : (normalized - 1) * 100),
      `${coverage < 1 ? 'part: ' : ''}${formatMs(constructedMs)}`,
      percent(margin),
      formatMs(measuredMs),
      held === null ? UNKNOWN : held ? 'yes' : 'no',
    ]);
  });
  const alignments = header.map((title) => (title === 'model' || title === 'within ±' ? '---' : '---:'));
  return [line(header), line(alignments), ...rows];
}

function machine({ system, batch }: SuiteConfiguration): string {
  const { processor, cores, threads, operating_system: os, framework, framework_version: version } = system;
  return `${processor}, ${threads} of ${cores} cores, ${os}, ${framework} ${version}, batch ${batch}`;
}

/** The shortest bricks of each cut, which are the default. */
function defaultsAmong(shown: readonly Shown[]): readonly Shown[] {
  const shortest = (cut: string): number => {
    const lengths = shown.flatMap(({ configuration }) => (configuration.cut === cut ? configuration.granularity : []));
    return Math.min(...lengths);
  };
  return shown.filter(({ configuration }) => configuration.granularity === shortest(configuration.cut));
}

function missingLines({ models: suite }: ModelSuite, shown: readonly Shown[]): readonly string[] {
  const there = new Set(shown.flatMap(({ configuration }) => configuration.models.map(({ name }) => name)));
  const missing = suite.filter((name) => !there.has(name));
  return missing.length === 0 ? [] : [`Not measured: ${missing.join(', ')}.`, ''];
}

/**
 * docs/results/icpe2020.md or docs/results/modern.md.
 *
 * @param date as 2026-11-22 @param plots files beside the document @param analysis text that a person wrote; it is
 *   kept unchanged
 */
export function suiteDocument(
  suite: ModelSuite,
  configurations: readonly SuiteConfiguration[],
  { date, plots, analysis }: { readonly date: string; readonly plots: readonly string[]; readonly analysis: string },
): string {
  const shown = configurations.map((configuration) => ({ configuration, figures: figuresOf(configuration) }));
  const defaults = defaultsAmong(shown);
  const [first] = configurations;
  return [
    `# ${suite.title}`,
    '',
    'Written by `make bench-suites`. A person wrote the *Analysis*; it stays when the figures change.',
    '',
    suite.about,
    '',
    `${first === undefined ? '' : machine(first)}. ${date}.`,
    '',
    ...missingLines(suite, shown),
    '*normalized* = constructed / measured, *error* = normalized - 1, *within ±*: whether the measured latency lies in the',
    "estimate's interval. The ratios are those of [measuring.md](../measuring.md#what-it-costs-three-ratios).",
    '',
    ...figuresTable(suite, defaults),
    '',
    ...(shown.length > defaults.length ? ['## All cuts and lengths', '', ...figuresTable(suite, shown), ''] : []),
    ...defaults.flatMap((one) => {
      const { cut, granularity } = one.configuration;
      const title = `${cut === 'kernel' ? 'Kernel' : 'Layer'} cut, G = ${granularity}`;
      return [`## ${title}`, '', ...modelsTable(suite, one), ''];
    }),
    ...plots.flatMap((plot) => [`![${plot.replace(/^.*\//, '').replace('.svg', '')}](${plot})`, '']),
    analysis.trim() === '' ? '## Analysis\n' : analysis.trim(),
    '',
  ].join('\n');
}
