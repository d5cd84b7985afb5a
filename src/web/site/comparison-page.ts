import { formatMs, UNKNOWN } from '../../base/format-ms.js';
import { markup } from '../../base/markup.js';
import type { PlatformEvent } from '../../evaluation/event.js';
import { rangeChart } from '../charts.js';
import { link, markupTable, type MarkupColumn, tableMarkup } from '../table.js';
import type { KeptEstimate } from '../../measuring/estimates.js';
import {
  chooseColumn,
  comparisonForm,
  configurationText,
  estimateAddress,
  intervalText,
  latencyHint,
  modelAddress,
  systemNames,
} from './estimate-cells.js';
import type { EstimatesView } from './estimate-pages.js';
import { section, type SiteContent } from './layout.js';

interface Compared {
  readonly name: string;
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
function ratioText({ ms, low, high }: Compared, first: Compared): string {
  if (ms === null || first.ms === null || first.ms === 0) return UNKNOWN;
  const ratio = `${(ms / first.ms).toPrecision(3)} x`;
  if (low === null || high === null || first.low === null || first.high === null) return `${ratio}, no interval`;
  return low > first.high || high < first.low ? ratio : `${ratio}, intervals overlap`;
}

function ofEstimate(estimate: KeptEstimate, nameOf: (fingerprint: string) => string): Compared {
  const { model, system, latencyMs: ms, lowMs: low, highMs: high, coverage } = estimate;
  const name = `${model}, ${configurationText(estimate)}, on ${nameOf(system)}`;
  return { name, address: estimateAddress(estimate), ms, low, high, coverage, hint: latencyHint(estimate) };
}

function ofEvaluation({ id, name, estimates }: ComparedEvaluation): readonly Compared[] {
  return estimates.map(({ model, system, latencyMs: ms = null, lowMs: low = null, highMs: high = null, coverage }) => {
    const where = system === undefined ? '' : `, ${system}`;
    const hint = `${formatMs(ms)} ms; ${intervalText(low, high)} ms`;
    return { name: `${model}${where}, in ${name}`, address: `/evaluations/${id}`, ms, low, high, coverage, hint };
  });
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
  const rows = evaluations.length > 0 ? all.toSorted((a, b) => a.name.localeCompare(b.name)) : all;
  const [first] = rows;
  const columns: MarkupColumn<Compared>[] = [
    { title: 'estimate', cell: ({ name, address }) => link(address, name) },
    { title: 'latency (ms)', align: 'right', cell: ({ ms }) => formatMs(ms), hint: ({ hint }) => hint },
    { title: 'interval (ms)', align: 'right', cell: ({ low, high }) => intervalText(low, high) },
    { title: 'coverage', align: 'right', cell: ({ coverage }) => `${Math.floor(coverage * 100)} %` },
    ...(evaluations.length > 0 || first === undefined
      ? []
      : [{ title: 'to the first', align: 'right' as const, cell: (row: Compared) => ratioText(row, first) }]),
  ];
  const chart = rangeChart({
    unit: 'ms',
    words: { value: 'estimate', interval: 'its 95 % interval' },
    ranges: rows.map(({ name, ms, low, high, hint }) => {
      return { name, value: ms, low, high, text: ms === null ? 'no estimate' : `${formatMs(ms)} ms`, hint };
    }),
  });
  const label = (estimate: KeptEstimate): string => ofEstimate(estimate, nameOf).name;
  const chosenSubjects = new Set(chosen.map(({ subject }) => subject));
  const further: MarkupColumn<KeptEstimate>[] = [
    { title: 'model', cell: ({ model }) => link(modelAddress(model), model) },
    { title: 'system', cell: ({ system }) => nameOf(system) },
    { title: 'with', cell: configurationText },
    { title: 'latency (ms)', align: 'right', cell: ({ latencyMs }) => formatMs(latencyMs) },
    chooseColumn(label, chosenSubjects),
  ];
  const choose = comparisonForm(tableMarkup('Estimates to compare', markupTable(further, others.estimates)));
  return {
    title: 'Comparison',
    body: markup`<h1>Comparison</h1>
<p class="verdict">${rows.length === 0 ? 'Choose estimates below.' : 'All on one scale. The address of this page can be shared.'}</p>
${rows.length === 0 ? undefined : section('Side by side', [chart, tableMarkup('Side by side', markupTable(columns, rows))])}
${others.estimates.length === 0 ? undefined : section('Others', [choose], 'Estimates of the same models.')}`,
  };
}
