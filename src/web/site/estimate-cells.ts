import { formatMs, UNKNOWN } from '../../base/format-ms.js';
import { Markup, markup } from '../../base/markup.js';
import type { System } from '../../measurement/system.js';
import { stackText, toSystemDocument } from '../../measurement/system-document.js';
import { systemDifferences } from '../../measurement/system-differences.js';
import type { KeptEstimate } from '../../measuring/estimates.js';
import { latencyChart } from '../charts.js';
import { link, type MarkupColumn } from '../table.js';
import { address, timeText } from './layout.js';

export function systemNames(systems: readonly System[]): (fingerprint: string) => string {
  const differing = systemDifferences(systems, ['processor', 'cores', 'framework', 'threads']);
  const names = new Map(
    systems.map((system) => {
      const texts = [stackText(toSystemDocument(system)), differing(system)];
      return [system.fingerprint, texts.filter((text) => text !== '').join(', ')] as const;
    }),
  );
  return (fingerprint) => names.get(fingerprint) ?? `system ${fingerprint.slice(0, 12)}`;
}

export function configurationParts(estimate: KeptEstimate): readonly string[] {
  const { plugin, version, batch, dimensions, settings } = estimate;
  const how = plugin === 'latency' ? 'whole model' : plugin;
  const parts = [`batch ${batch}`, dimensions, settings, how, version === null ? '' : `version ${version}`];
  return parts.filter((text) => text !== '');
}

export function configurationText(estimate: KeptEstimate): string {
  return configurationParts(estimate).join(', ');
}

/** "part:" is before the latency of a part of the model. */
export function latencyText({ latencyMs: ms, highMs, coverage }: KeptEstimate, unit = ''): string {
  if (ms === null) return 'none';
  // The upper half: the lower one ends at zero where an interval is wider than its estimate.
  const half = highMs === null || ms === 0 ? undefined : 100 * (highMs / ms - 1);
  return `${coverage < 1 ? 'part: ' : ''}${formatMs(ms)}${unit}${half === undefined ? '' : ` ± ${half.toFixed(1)} %`}`;
}

/** Rounded down, so that a part never shows as the whole; 0.29 * 100 is a little less than 29. */
export function coverageText(coverage: number): string {
  return `${Math.floor(coverage * 100 + 1e-9)} %`;
}

export function latencyHint(estimate: KeptEstimate): string {
  const { latencyMs, lowMs, highMs, wholeMs, coverage, reason, at } = estimate;
  return [
    `${formatMs(latencyMs)} ms`,
    lowMs === null || highMs === null ? 'no interval' : `${formatMs(lowMs)} to ${formatMs(highMs)} ms`,
    ...(wholeMs === null ? [] : [`measured whole: ${formatMs(wholeMs)} ms`]),
    `coverage ${coverageText(coverage)}`,
    ...(reason === null ? [] : [reason]),
    configurationText(estimate),
    timeText(at),
  ].join('; ');
}

export function estimateAddress({ subject }: KeptEstimate): string {
  return `/estimates/${subject}`;
}

export function modelAddress(model: string): string {
  return address('/model', [['name', model]]);
}

export function systemAddress(fingerprint: string): string {
  return `/systems/${fingerprint}`;
}

export function latencyCell(estimate: KeptEstimate): Markup {
  return link(estimateAddress(estimate), latencyText(estimate));
}

export function keptEstimatesChart(
  estimates: readonly KeptEstimate[],
  nameOf: (estimate: KeptEstimate) => string,
): Markup | undefined {
  return latencyChart(
    estimates.map((estimate) => ({
      name: nameOf(estimate),
      value: estimate.latencyMs,
      low: estimate.lowMs,
      high: estimate.highMs,
      other: estimate.plugin === 'latency' ? null : estimate.wholeMs,
      text: estimate.latencyMs === null ? 'no estimate' : latencyText(estimate, ' ms'),
      hint: `${nameOf(estimate)}: ${latencyHint(estimate)}`,
    })),
    'whole model, measured',
  );
}

export const ESTIMATE_COLUMNS: readonly MarkupColumn<KeptEstimate>[] = [
  { title: 'with', cell: configurationText },
  { title: 'latency (ms)', align: 'right', cell: latencyCell, hint: latencyHint },
  { title: 'interval (ms)', align: 'right', cell: ({ lowMs, highMs }) => intervalText(lowMs, highMs) },
  { title: 'measured whole (ms)', align: 'right', cell: ({ wholeMs }) => formatMs(wholeMs) },
  { title: 'coverage', align: 'right', cell: ({ coverage }) => coverageText(coverage) },
  { title: 'time', cell: ({ at }) => timeText(at) },
  { title: 'why not whole', cell: ({ reason }) => reason ?? '' },
];

export function intervalText(low: number | null | undefined, high: number | null | undefined): string {
  return low == null || high == null ? UNKNOWN : `${formatMs(low)} to ${formatMs(high)}`;
}

/** The table is inside of {@link comparisonForm}. */
export function chooseColumn(
  nameOf: (estimate: KeptEstimate) => string,
  chosen: ReadonlySet<string> = new Set(),
): MarkupColumn<KeptEstimate> {
  return {
    title: 'compare',
    cell: (estimate) => {
      const isChosen = chosen.has(estimate.subject) ? Markup.trusted(' checked') : '';
      return markup`<input type="checkbox" name="of" value="${estimate.subject}"${isChosen} aria-label="compare ${nameOf(estimate)}">`;
    },
  };
}

export function comparisonForm(content: Markup): Markup {
  return markup`<form method="get" action="/compare">${content}<p><button>Compare the chosen ones</button></p></form>`;
}
