import { formatMs, UNKNOWN } from '../../base/format-ms.js';
import { type Markup, markup } from '../../base/markup.js';
import type { PlatformEvent } from '../../evaluation/event.js';
import { latencyChart } from '../charts.js';
import { link, columnsMarkup, type MarkupColumn } from '../table.js';
import type { KeptEstimate } from '../../measuring/estimates.js';
import {
  chooseColumn,
  comparisonForm,
  configurationParts,
  configurationText,
  coverageText,
  estimateAddress,
  intervalText,
  latencyHint,
  modelAddress,
  systemNames,
} from './estimate-cells.js';
import type { EstimatesView } from './estimate-pages.js';
import { section, type SiteContent } from './layout.js';

interface Compared {
  /** Of its name. */
  readonly parts: readonly string[];
  readonly address: string;
  readonly ms: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly coverage: number;
  readonly hint: string;
}

export interface ComparedEvaluation {
  readonly id: string;
  readonly name: string;
  readonly estimates: readonly (PlatformEvent & { readonly kind: 'estimate' })[];
}

/** The ratio to the first, and whether their intervals are apart. */
function ratioText(row: Compared, first: Compared): string {
  const { ms, low, high } = row;
  if (ms === null || first.ms === null || first.ms === 0) return UNKNOWN;
  if (row === first) return '1';
  const ratio = `${(ms / first.ms).toPrecision(3)} x`;
  if (low === null || high === null || first.low === null || first.high === null) return `${ratio}, no interval`;
  return low > first.high || high < first.low ? ratio : `${ratio}, intervals overlap`;
}

function estimateParts(estimate: KeptEstimate, nameOf: (fingerprint: string) => string): readonly string[] {
  return [estimate.model, ...configurationParts(estimate), ...`on ${nameOf(estimate.system)}`.split(', ')];
}

function ofEstimate(estimate: KeptEstimate, nameOf: (fingerprint: string) => string): Compared {
  const { latencyMs: ms, lowMs: low, highMs: high, coverage } = estimate;
  const parts = estimateParts(estimate, nameOf);
  return { parts, address: estimateAddress(estimate), ms, low, high, coverage, hint: latencyHint(estimate) };
}

function ofEvaluation({ id, name, estimates }: ComparedEvaluation): readonly Compared[] {
  return estimates.map(({ model, system, latencyMs: ms = null, lowMs: low = null, highMs: high = null, coverage }) => {
    const parts = [model, ...(system === undefined ? [] : system.split(', ')), `in ${name}`];
    const hint = `${formatMs(ms)} ms; ${intervalText(low, high)} ms`;
    return { parts, address: `/evaluations/${id}`, ms, low, high, coverage, hint };
  });
}

function fullName({ parts }: Compared): string {
  return parts.join(', ');
}

function commonParts(rows: readonly Compared[]): readonly string[] {
  const [first] = rows;
  if (first === undefined || rows.length === 1) return [];
  return first.parts.filter((part) => rows.every(({ parts }) => parts.includes(part)));
}

function summaryMarkup(isEmpty: boolean, evaluations: readonly ComparedEvaluation[]): Markup {
  const without = evaluations.filter(({ estimates }) => estimates.length === 0);
  const lacking = without.map(({ id, name }) => markup`<li>${link(`/evaluations/${id}`, name)} has no estimates.</li>`);
  const list = lacking.length === 0 ? undefined : markup`<ul class="warnings">${lacking}</ul>\n`;
  if (!isEmpty)
    return markup`<p class="verdict">All on one scale. The address of this page can be shared.</p>\n${list}`;
  return markup`${list}<p class="verdict">${evaluations.length === 0 ? 'Nothing is chosen.' : 'There is nothing to compare.'}
Choose estimates on the page of a model (${link('/', 'Models')}) or a system (${link('/systems', 'Systems')}), or choose ${link('/evaluations', 'evaluations')}.</p>`;
}

/** @param chosen in the order of the address @param others of the same models */
export function comparisonPage(
  chosen: readonly KeptEstimate[],
  evaluations: readonly ComparedEvaluation[],
  others: EstimatesView,
): SiteContent {
  const nameOf = systemNames([...others.systems.values()]);
  const all = [...chosen.map((estimate) => ofEstimate(estimate, nameOf)), ...evaluations.flatMap(ofEvaluation)];
  // The estimates of one model of several evaluations stand below each other.
  const rows = evaluations.length > 0 ? all.toSorted((a, b) => fullName(a).localeCompare(fullName(b))) : all;
  const [first] = rows;
  const common = commonParts(rows);
  const nameIn = (row: Compared): string => {
    return row.parts.filter((part) => !common.includes(part)).join(', ') || fullName(row);
  };
  const columns: MarkupColumn<Compared>[] = [
    { title: 'estimate', cell: (row) => link(row.address, nameIn(row)) },
    { title: 'latency (ms)', align: 'right', cell: ({ ms }) => formatMs(ms), hint: ({ hint }) => hint },
    { title: 'interval (ms)', align: 'right', cell: ({ low, high }) => intervalText(low, high) },
    { title: 'coverage', align: 'right', cell: ({ coverage }) => coverageText(coverage) },
    ...(evaluations.length > 0 || first === undefined
      ? []
      : [{ title: 'to the first', align: 'right' as const, cell: (row: Compared) => ratioText(row, first) }]),
  ];
  const chart = latencyChart(
    rows.map((row) => {
      const { ms, low, high } = row;
      const text = ms === null ? 'no estimate' : `${formatMs(ms)} ms`;
      return { name: nameIn(row), value: ms, low, high, text, hint: `${fullName(row)}: ${row.hint}` };
    }),
  );
  const label = (estimate: KeptEstimate): string => estimateParts(estimate, nameOf).join(', ');
  const chosenSubjects = new Set(chosen.map(({ subject }) => subject));
  const further: MarkupColumn<KeptEstimate>[] = [
    { title: 'model', cell: ({ model }) => link(modelAddress(model), model) },
    { title: 'system', cell: ({ system }) => nameOf(system) },
    { title: 'with', cell: configurationText },
    { title: 'latency (ms)', align: 'right', cell: ({ latencyMs }) => formatMs(latencyMs) },
    chooseColumn(label, chosenSubjects),
  ];
  const choose = comparisonForm(columnsMarkup('Estimates to compare', further, others.estimates));
  return {
    title: 'Comparison',
    body: markup`<h1>Comparison</h1>
${summaryMarkup(rows.length === 0, evaluations)}
${rows.length === 0 ? undefined : section('Side by side', [chart, columnsMarkup('Side by side', columns, rows)], common.length === 0 ? undefined : `In common: ${common.join(', ')}.`)}
${others.estimates.length === 0 ? undefined : section('Choose again', [choose], 'All estimates of these models. Those of this page are chosen.')}`,
  };
}
