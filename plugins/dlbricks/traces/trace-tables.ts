import {
  type Column,
  counted,
  fittingTable,
  formatMs,
  icicleChart,
  left,
  oneLine,
  type Page,
  type PartOfTime,
  partsByKind,
  rangeChart,
  right,
  type ShownResult,
  type TableResult,
  textTable,
  UNKNOWN,
  wrap,
  leftOutLines,
} from '../../../src/plugin-api.js';
import { operatorsLabel } from '../bricks/brick.js';
import { chooseColumns } from '../report/columns.js';
import { percent } from '../report/figures.js';
import { FOUND_BY, type FoundBy } from './match-level.js';
import type { TraceModelReport, TraceReport } from './trace-report.js';

const MAX_MISSING_SHOWN = 5;

function intervalCell({ estimate_low_ms: low, estimate_high_ms: high }: TraceModelReport): string {
  return low === null || high === null ? UNKNOWN : `${formatMs(low)} to ${formatMs(high)}`;
}

function columnsFor({ models }: TraceReport): readonly Column<TraceModelReport>[] {
  const has = (isThere: (model: TraceModelReport) => boolean): boolean => models.some(isThere);
  const hasFilled = has(({ found_by: foundBy }) => (foundBy.fill ?? 0) > 0);
  const hasPath = has(({ parallel_ms: ms }) => ms !== null);
  const hasWhole = has(({ end_to_end_ms: ms }) => ms !== null);
  const estimateCell = ({ estimate_ms: ms, covers_whole_model: isWhole }: TraceModelReport): string => {
    return ms !== null && !isWhole ? `part: ${formatMs(ms)}` : formatMs(ms);
  };
  const filledCell = ({ filled_ms: filled, estimate_ms: ms }: TraceModelReport): string => {
    return ms === null || ms === 0 ? UNKNOWN : percent((100 * filled) / ms);
  };
  return chooseColumns<TraceModelReport>([
    [true, left('model', ({ name }) => oneLine(name))],
    [true, right('layers', ({ layers }) => String(layers))],
    [true, right('unique', ({ unique }) => String(unique))],
    [true, right('estimate (ms)', estimateCell)],
    [true, right('95 % (ms)', (model) => (model.covers_whole_model ? intervalCell(model) : UNKNOWN))],
    [true, right('measured', ({ measured_share: share }) => percent(share * 100))],
    [hasFilled, right('filled in', filledCell)],
    [hasPath, right('longest path (ms)', ({ parallel_ms: ms }) => formatMs(ms))],
    [hasWhole, right('end-to-end (ms)', ({ end_to_end_ms: ms }) => formatMs(ms))],
    [hasWhole, right('normalized', ({ normalized_latency: value }) => value?.toFixed(3) ?? UNKNOWN)],
  ]);
}

/** Titles of the columns that a narrow terminal leaves out, the least important first; the interval always stays. */
const DISPENSABLE = ['layers', 'unique', 'longest path (ms)', 'normalized', 'filled in', 'measured', 'end-to-end (ms)'];

function missingLines({ name, sequence_list: sequences }: TraceModelReport): string[] {
  const counts = new Map<string, { count: number; first: string; why: string }>();
  for (const { found_by: foundBy, operators, position, reason } of sequences) {
    if (foundBy !== null) continue;
    const label = operatorsLabel(operators);
    const counted = counts.get(label) ?? { count: 0, first: position, why: reason === null ? '' : `; ${reason}` };
    counted.count++;
    counts.set(label, counted);
  }
  const all = [...counts].sort(([, a], [, b]) => b.count - a.count);
  const lines = all.slice(0, MAX_MISSING_SHOWN).map(([label, { count, first, why }]) => {
    return `  ${oneLine(`${name}: missing ${count} x ${label} (first: layer ${first})${why}`)}`;
  });
  const rest = all.slice(MAX_MISSING_SHOWN).reduce((sum, [, { count }]) => sum + count, 0);
  return rest > 0 ? [...lines, `  ${oneLine(name)}: and ${rest} more; --export-json lists all`] : lines;
}

function foundLine({ models }: TraceReport): string {
  const counts = new Map<string, number>();
  for (const { found_by: foundBy } of models) {
    for (const [by, count] of Object.entries(foundBy)) counts.set(by, (counts.get(by) ?? 0) + count);
  }
  const parts = [...counts].map(([by, count]) => `${count} by ${FOUND_BY[by as FoundBy]}`);
  return `layers found: ${parts.length === 0 ? 'none' : parts.join(', ')}`;
}

const LOOKED_UP = {
  source: 'as their files have them',
  optimized: 'as the runtime optimizes them',
  optimized_open: 'as the runtime optimizes them with open dimensions',
} as const;

function graphLines({ models }: TraceReport): readonly string[] {
  return Object.entries(LOOKED_UP).flatMap(([graph, how]) => {
    const names = models.filter((model) => model.graph === graph).map(({ name }) => name);
    return names.length === 0 ? [] : [`looked up ${how}: ${names.join(', ')}`];
  });
}

const COUNTED = {
  all: 'all measurements',
  own: "each model's own measurements",
  others: "other models' measurements only",
} as const;

function summaryLines(report: TraceReport): readonly string[] {
  const { summary, settings, system, corrections, repeated, models } = report;
  const lines = [
    `system: ${system}; ${COUNTED[settings.occurrences]}; ${settings.statistic} over a layer's occurrences`,
    `${counted(summary.layers, 'layer')} in ${counted(summary.models, 'model')}, unique sequences: ${summary.unique} of ${summary.sequences}`,
    foundLine(report),
    ...graphLines(report),
  ];
  for (const { model, factor, whole_ms: whole, traced_whole_ms: traced } of corrections) {
    lines.push(
      `${model}: layer times multiplied by ${factor.toFixed(3)}, since the whole model took ${formatMs(traced)} ms with its layers traced and ${formatMs(whole)} ms without`,
    );
  }
  for (const { model, source } of repeated) {
    lines.push(`${source}: ${model}: not counted, since its traces are in another file as well`);
  }
  if (settings.calibrate)
    lines.push('estimates are multiplied by measured / estimated latency of the other models in these traces');
  if (models.some(({ covers_whole_model: isWhole, estimate_low_ms: low }) => isWhole && low === null)) {
    lines.push(
      'no interval: these traces have neither a layer measured in several processes nor measured whole models',
    );
  }
  if (models.some(({ covers_whole_model: isWhole }) => !isWhole)) {
    lines.push("'part' marks an estimate of only a part of its model");
  }
  if (summary.geomean_normalized_latency !== null) {
    lines.push(
      `normalized latency, ${counted(summary.complete_models, 'covered model')}: geometric mean ${summary.geomean_normalized_latency.toFixed(4)}; mean error ${percent(summary.mape_percent, 2)}, worst ${percent(summary.worst_percent)}; within 5 %: ${summary.within_5_percent}, within 10 %: ${summary.within_10_percent}`,
    );
  }
  if (summary.with_interval > 0) {
    lines.push(
      `intervals: ${summary.within_interval} of ${summary.with_interval} contain the measured latency; their confidence level is ${settings.confidence * 100} %`,
    );
  }
  if (summary.compared_models > summary.complete_models && summary.geomean_of_compared !== null) {
    lines.push(
      `geometric mean including the ${summary.compared_models - summary.complete_models} partly covered models, as if they were covered completely: ${summary.geomean_of_compared.toFixed(4)}`,
    );
  }
  if (summary.speedup !== null && summary.whole_seconds !== null && summary.unique_seconds !== null) {
    lines.push(
      `one run of each: whole models ${summary.whole_seconds.toFixed(2)} s, unique layers ${summary.unique_seconds.toFixed(2)} s, the paper's ratio ${summary.speedup.toFixed(3)}`,
    );
  }
  return lines.map(oneLine);
}

const KEYS = [
  'name',
  'layers',
  'sequences',
  'unique',
  'measured_share',
  'coverage',
  'estimate_ms',
  'estimate_low_ms',
  'estimate_high_ms',
  'filled_ms',
  'parallel_ms',
  'end_to_end_ms',
  'normalized_latency',
] as const satisfies readonly (keyof TraceModelReport)[];

function buildTableResult(report: TraceReport): TableResult {
  const { models } = report;
  return {
    document: report,
    records: {
      keys: [...KEYS, 'system'],
      rows: models.map((model) => [...KEYS.map((key) => model[key]), report.system]),
    },
    table: textTable(columnsFor(report), models),
    notes: summaryLines(report),
  };
}

function listParts({ name, sequence_list: sequences }: TraceModelReport): PartOfTime {
  const parts = sequences.flatMap(({ operators, name: layer, ms }) =>
    ms === null ? [] : [{ kind: operators[0] ?? UNKNOWN, name: layer === '' ? operatorsLabel(operators) : layer, ms }],
  );
  return partsByKind(name, parts);
}

function buildPage(report: TraceReport): Page {
  const { models, system, settings, summary } = report;
  const interval = `its ${settings.confidence * 100} % interval`;
  const chart = rangeChart({
    unit: 'ms',
    words: { value: 'estimate', interval, other: 'whole model, measured' },
    ranges: models.map((model) => {
      const { name, estimate_ms: value, estimate_low_ms: low, estimate_high_ms: high, end_to_end_ms: other } = model;
      const measured = other === null ? '' : `; measured ${formatMs(other)} ms`;
      const part = model.covers_whole_model ? '' : 'part: ';
      const text = `${part}${formatMs(value)} ms (${intervalCell(model)})${measured}`;
      return { name, value, low, high, other, text };
    }),
  });
  const { mape_percent: error, complete_models: complete } = summary;
  return {
    title: `Latency of ${counted(models.length, 'model')} from traces of ${system}`,
    verdict:
      error === null
        ? `${complete} of ${counted(models.length, 'model')} could be compared with a measured latency.`
        : `The estimates are off by ${percent(error)} on average, and by ${percent(summary.worst_percent)} at most.`,
    sections: [
      {
        title: error === null ? 'Estimated' : 'Estimated and measured',
        chart,
        table: textTable(columnsFor(report), models),
      },
      {
        title: 'Where the time goes',
        lead: 'Each model above its operators. Widths are times, on one scale for all models.',
        chart: icicleChart(models.map(listParts)),
      },
    ],
  };
}

export function shownTraceReport(report: TraceReport): ShownResult {
  return {
    result: () => buildTableResult(report),
    page: () => buildPage(report),
    text: ({ width = Infinity }) => {
      const table = fittingTable(columnsFor(report), report.models, { width, dispensable: DISPENSABLE });
      const missing = report.models.flatMap(missingLines).map((line) => wrap(line, width, '    '));
      const notes = summaryLines(report).map((line) => wrap(line, width, '  '));
      return [table.text, ...leftOutLines(table, width), ...missing, ...notes, ''].join('\n');
    },
  };
}
