import { createColors } from 'picocolors';
import { counted } from '../base/counted.js';
import type { Page } from '../base/exporters/page.js';
import type { TableResult } from '../base/exporters/exporter.js';
import { fittingTable, leftOutLines } from '../base/fitting-table.js';
import { formatMs, UNKNOWN } from '../base/format-ms.js';
import { inPercent } from '../base/in-percent.js';
import { oneLine } from '../base/one-line.js';
import { type Column, textTable, left, right } from '../base/text-table.js';
import { wrap } from '../base/wrap.js';
import { stackText } from '../measurement/system-document.js';
import { rangeChart } from '../web/charts.js';
import type { ShownResult } from '../evaluation/evaluation.js';
import { type SystemResult, type SystemsResult, systemsResultIn } from '../evaluation/systems-result.js';

type Estimate = SystemResult['estimates'][number];

function estimateOf({ estimates }: SystemResult, model: string): Estimate | undefined {
  return estimates.find((estimate) => estimate.model === model);
}

/** A latency with its interval's upper half width in percent: 12.34 ± 5.0 %. `part:` marks a coverage below 1. */
function latencyText(estimate: Estimate | undefined): string {
  if (estimate?.latency_ms == null) return UNKNOWN;
  const { latency_ms: ms, high_ms: high, coverage } = estimate;
  const interval = high === null || ms === 0 ? '' : ` ± ${inPercent(high / ms - 1)}`;
  return `${coverage < 1 ? 'part: ' : ''}${formatMs(ms)}${interval}`;
}

/** The percentiles of runs that some system has, in the order in which the first system has them. */
function listPercentages({ systems }: SystemsResult): readonly number[] {
  const all = systems.flatMap(({ estimates }) => estimates.flatMap(({ percentiles }) => percentiles));
  return [...new Set(all.map(({ percentage }) => percentage))];
}

function percentileOf(estimate: Estimate | undefined, percentage: number): number | null | undefined {
  return estimate?.percentiles.find((percentile) => percentile.percentage === percentage)?.latency_ms;
}

interface Row {
  readonly model: string;
  readonly system: SystemResult;
  readonly estimate: Estimate | undefined;
}

function listRows({ models, systems }: SystemsResult): readonly Row[] {
  return models.flatMap((model) => {
    return systems.map((system): Row => ({ model, system, estimate: estimateOf(system, model) }));
  });
}

function makeRowColumns(percentages: readonly number[]): readonly Column<Row>[] {
  return [
    left('model', ({ model }) => oneLine(model)),
    left('system', ({ system }) => oneLine(system.name)),
    right('latency (ms)', ({ estimate }) => latencyText(estimate)),
    ...percentages.map((each): Column<Row> => {
      return right(`p${each} (ms)`, ({ estimate }) => formatMs(percentileOf(estimate, each)));
    }),
    right('coverage', ({ estimate }) =>
      estimate === undefined ? UNKNOWN : `${Math.floor(estimate.coverage * 100)} %`,
    ),
  ];
}

export type ShowOne = (document: unknown) => ShownResult | undefined;

/** A latency of a model: a percentile of its runs, or the estimate where there is no percentage. */
interface Figure {
  readonly model: string;
  readonly percentage?: number;
}

function listFigures(models: readonly string[], percentages: readonly number[]): readonly Figure[] {
  return models.flatMap((model) => [{ model }, ...percentages.map((percentage) => ({ model, percentage }))]);
}

function formatTitle({ name }: SystemResult): string {
  return `${oneLine(name)} (ms)`;
}

/** A row for each model and percentile, a column for each system. */
function makeColumns(systems: readonly SystemResult[], hasPercentiles: boolean): readonly Column<Figure>[] {
  const ofRuns: Column<Figure> = left('runs', ({ percentage }) =>
    percentage === undefined ? 'mean' : `p${percentage}`,
  );
  return [
    left('model', ({ model }) => oneLine(model)),
    ...(hasPercentiles ? [ofRuns] : []),
    ...systems.map((system): Column<Figure> => {
      return right(formatTitle(system), ({ model, percentage }) => {
        const estimate = estimateOf(system, model);
        return percentage === undefined ? latencyText(estimate) : formatMs(percentileOf(estimate, percentage));
      });
    }),
  ];
}

/** Why systems do not show percentiles of timed models. */
function notShownLines(systems: readonly SystemResult[]): readonly string[] {
  return systems.flatMap(({ name, estimates }) => {
    const timed = estimates.filter(({ latency_ms: latencyMs }) => latencyMs !== null);
    const reasons = timed.flatMap(({ percentiles }) => percentiles.flatMap(({ reason }) => reason ?? []));
    return [...new Set(reasons)].map((reason) => `${name}: ${reason}`);
  });
}

function failureLines(systems: readonly SystemResult[]): readonly string[] {
  return systems.flatMap(({ name, failure }) => (failure === null ? [] : [`${name}: failed: ${failure.message}`]));
}

function systemLine({ name, agents, ...system }: SystemResult): string {
  return `${name}: ${stackText(system)}; measured by ${agents.join(', ')}`;
}

function buildTableResult(document: SystemsResult): TableResult {
  const { systems } = document;
  const rows = listRows(document);
  const percentages = listPercentages(document);
  return {
    document,
    records: {
      keys: [
        ...['model', 'system', 'latency_ms', 'low_ms', 'high_ms', 'coverage', 'reason'],
        ...['fingerprint', 'processor', 'cores', 'framework', 'framework_version', 'threads', 'agents'],
        ...percentages.map((each) => `p${each}_ms`),
      ],
      rows: rows.map(({ model, system, estimate }) => [
        ...[model, system.name, estimate?.latency_ms, estimate?.low_ms, estimate?.high_ms, estimate?.coverage],
        system.failure?.message,
        ...[system.fingerprint, system.processor, system.cores, system.framework, system.framework_version],
        ...[system.threads, system.agents.join(' ')],
        ...percentages.map((each) => percentileOf(estimate, each)),
      ]),
    },
    table: textTable(makeRowColumns(percentages), rows),
    notes: [...failureLines(systems), ...notShownLines(systems), ...systems.map(systemLine)].map(oneLine),
  };
}

function buildPage(document: SystemsResult, showOne?: ShowOne): Page {
  const { models, systems } = document;
  const rows = listRows(document);
  const percentages = listPercentages(document);
  const table = textTable(makeColumns(systems, percentages.length > 0), listFigures(models, percentages));
  const known = rows.filter(({ estimate }) => estimate?.latency_ms != null).length;
  const chart = rangeChart({
    unit: 'ms',
    words: { value: 'latency', interval: 'its interval' },
    ranges: rows.map(({ model, system, estimate }) => {
      const { latency_ms: value = null, low_ms: low = null, high_ms: high = null } = estimate ?? {};
      return { name: `${model}, ${system.name}`, value, low, high, text: `${latencyText(estimate)} ms` };
    }),
  });
  return {
    title: `Latency of ${counted(models.length, 'model')} on ${counted(systems.length, 'system')}: ${systems.map(({ name }) => name).join(', ')}`,
    verdict: `Known latencies: ${known} of ${rows.length}.`,
    sections: [
      { title: 'Models and systems', chart, table },
      ...systems.flatMap(({ name, result }) =>
        (showOne?.(result)?.page?.().sections ?? []).map((section) => ({
          ...section,
          title: `${name}: ${section.title}`,
        })),
      ),
    ],
  };
}

/** @param showOne also shows each system's own document, else only in exports @returns undefined for other documents */
export function shownSystems(document: unknown, showOne?: ShowOne): ShownResult | undefined {
  const systems = systemsResultIn(document);
  if (systems === undefined) return undefined;
  return {
    result: () => buildTableResult(systems),
    page: () => buildPage(systems, showOne),
    text: ({ color, width }) => {
      const { bold, yellow } = createColors(color);
      const percentages = listPercentages(systems);
      const columns = makeColumns(systems.systems, percentages.length > 0);
      // On a narrow terminal, the last systems are left out first.
      const dispensable = systems.systems.slice(1).map(formatTitle).reverse();
      const fitted = fittingTable(columns, listFigures(systems.models, percentages), { width, dispensable, bold });
      const wrapped = (line: string): string => wrap(oneLine(line), width ?? Infinity, '  ');
      const lines = [
        fitted.text,
        ...leftOutLines(fitted, width),
        ...failureLines(systems.systems).map((line) => yellow(wrapped(line))),
        ...notShownLines(systems.systems).map(wrapped),
        ...systems.systems.map((system) => wrapped(systemLine(system))),
        ...systems.systems.flatMap(({ name, result }) => {
          const shown = showOne?.(result)?.text({ color, width });
          return shown === undefined ? [] : ['', bold(oneLine(name)), shown.trimEnd()];
        }),
      ];
      return `${lines.join('\n')}\n`;
    },
  };
}
