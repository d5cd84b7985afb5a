import { type Column, oneLine } from '../../../src/plugin-api.js';
import type { ModelReport, Report } from './report.js';
import { counted, formatMs, percent, UNKNOWN } from './words.js';

/** A ratio in percent; not known where a time is 0 or the result is not finite. */
function relative(difference: number, to: number): string {
  const share = difference / to;
  return Number.isFinite(share) ? `${(share * 100).toFixed(1)} %` : UNKNOWN;
}

function plusMinus({ estimate_ms: ms, estimate_high_ms: high }: ModelReport): string {
  return ms === null || high === null ? UNKNOWN : relative(high - ms, ms);
}

function repeatDifference({ end_to_end_ms: first, end_to_end_repeat_ms: repeat }: ModelReport): string {
  return first === null || repeat === null ? UNKNOWN : relative(repeat - first, first);
}

/** The columns of the tables on a terminal. Some appear only where a model needs them. */
export function columnsFor({ models }: Report): readonly Column<ModelReport>[] {
  const isPartial = models.some(({ coverage }) => coverage < 1);
  const hasEndToEnd = models.some(({ end_to_end_ms: ms, missing }) => {
    return ms !== null || missing.some(({ benchmark }) => benchmark === 'end_to_end');
  });
  const always: Column<ModelReport>[] = [
    { title: 'model', align: 'left', cell: ({ name }) => oneLine(name) },
    { title: 'layers', align: 'right', cell: ({ layers }) => String(layers) },
    { title: 'unique', align: 'right', cell: ({ unique_bricks: unique }) => String(unique) },
    {
      title: 'constructed (ms)',
      align: 'right',
      cell: ({ estimate_ms: ms, coverage }) => (ms !== null && coverage < 1 ? `part: ${formatMs(ms)}` : formatMs(ms)),
    },
    { title: '±', align: 'right', cell: plusMinus },
    {
      title: 'parallelism',
      align: 'right',
      cell: ({ parallelism }) => (parallelism === null ? UNKNOWN : parallelism.toFixed(2)),
    },
  ];
  const coverage: Column<ModelReport> = {
    title: 'coverage',
    align: 'right',
    cell: ({ coverage: share }) => `${(share * 100).toFixed(1)} %`,
  };
  const endToEnd: Column<ModelReport>[] = [
    { title: 'end-to-end (ms)', align: 'right', cell: ({ end_to_end_ms: ms }) => formatMs(ms) },
    { title: 'again', align: 'right', cell: repeatDifference },
    {
      title: 'normalized',
      align: 'right',
      cell: ({ normalized_latency: value }) => (value === null ? UNKNOWN : value.toFixed(3)),
    },
  ];
  return [...always, ...(isPartial ? [coverage] : []), ...(hasEndToEnd ? endToEnd : [])];
}

/** Share of the intervals that contain the measured latency, as a sentence. */
function intervalLines({ models, summary, settings }: Pick<Report, 'models' | 'summary' | 'settings'>): string[] {
  if (summary.interval_hit_percent === null) return [];
  const known = models.filter(({ interval_hit: hit }) => hit !== null);
  const hits = known.filter(({ interval_hit: hit }) => hit === true).length;
  const claimed = `their confidence level is ${percent(settings.confidence * 100)}`;
  const what =
    settings.cut === 'kernel' ? claimed : 'at the layer cut they cover only the spread of runs in one process';
  return [
    `intervals: ${hits} of ${known.length} contain the measured latency (${percent(summary.interval_hit_percent)}); ${what}`,
  ];
}

const LIMITS = {
  occasions: 'they reached the limit of repetitions',
  time: 'the time for repeating ran out; --repeat-limit allows more',
} as const;

/** Precision of the bricks, and which limit ended repeating them. */
function precisionLines({ models, summary, settings }: Pick<Report, 'models' | 'summary' | 'settings'>): string[] {
  const { spread_percent: spread } = summary;
  const { target_error_percent: target } = settings;
  if (spread === null || target === null) return [];
  const lines = [
    `bricks: ${percent(spread)} standard deviation between processes; repeated until their part of each interval is within ${percent(target)}`,
  ];
  for (const [limit, why] of Object.entries(LIMITS)) {
    const limited = models.filter(({ limited_by: by }) => by === limit).map(({ name }) => name);
    if (limited.length > 0) lines.push(`not within that: ${limited.join(', ')}: ${why}`);
  }
  return lines;
}

function inSeconds(value: number): string {
  return `${value.toFixed(1)} s`;
}

/** The cost of the estimates and of the alternative, with the ratios between them. */
function costLines({ costs, ratios }: Report['summary']): string[] {
  if (costs === null) return [];
  const { reading_seconds: reading, preparing_seconds: preparing, known_seconds: known } = costs;
  const ofBricks = `each brick once ${inSeconds(costs.bricks_first_seconds)}, repeated ${inSeconds(costs.bricks_again_seconds)}`;
  const ofModels = `each model once ${inSeconds(costs.models_first_seconds)}, repeated ${inSeconds(costs.models_again_seconds)}`;
  const before = known > 0 ? `; ${inSeconds(known)} of it measured before` : '';
  const measuredModels = costs.models_first_seconds > 0 ? `; ${ofModels}` : '';
  const lines = [
    `wall time: reading ${inSeconds(reading)}, optimizing ${inSeconds(preparing)}, ${ofBricks}${measuredModels}${before}`,
  ];
  const named: readonly [number | null, string][] = [
    [ratios.measured, 'measured (each model once over each brick once, everything included)'],
    [ratios.as_run, 'as run (all that was measured)'],
    [ratios.paper, "the paper's (one run of each)"],
  ];
  const told = named.flatMap(([value, name]) => (value === null ? [] : [`${value.toFixed(2)} ${name}`]));
  return told.length === 0 ? lines : [...lines, `whole models over bricks: ${told.join(', ')}`];
}

/** The summary below the table. */
export function summaryLines({ models, summary, system, settings, warnings }: Report): readonly string[] {
  const lines = [
    `${system.processor}, ${system.threads} of ${system.cores} cores, ${system.framework} ${system.framework_version}, batch ${settings.batch}, ${settings.cut} cut, G = ${settings.granularity}`,
    `${counted(summary.layers, 'layer')} in ${counted(summary.models, 'model')}, ${counted(summary.unique, 'unique brick')} for ${counted(summary.sequences, 'sequence')}`,
  ];
  if (summary.geomean_normalized_latency !== null) {
    lines.push(
      `normalized latency: geometric mean ${summary.geomean_normalized_latency.toFixed(3)}; mean error ${percent(summary.mape_percent)}, worst ${percent(summary.worst_percent)}; within 5 %: ${summary.within_5_percent}, within 10 %: ${summary.within_10_percent} of ${counted(models.filter(({ normalized_latency: value }) => value !== null).length, 'model')}`,
      `repeatability of this machine: ${percent(summary.repeatability_percent)} between two end-to-end measurements of the same model`,
      ...intervalLines({ summary, settings, models }),
    );
  }
  lines.push(...precisionLines({ models, summary, settings }));
  lines.push(...costLines(summary));
  // Too many threads are warned of before anything is measured.
  const ofMeasuring = warnings.filter(({ cause }) => cause !== 'threads');
  lines.push(...ofMeasuring.map(({ message }) => `warning: ${message}`));
  if (settings.cut === 'layer') {
    lines.push(
      "The layer cut is the DLBricks paper's method: each layer runs alone, without the fusions that the runtime makes in the whole model, so that its estimates are expected to be too high.",
    );
  }
  return lines.map(oneLine);
}
