import { groupedBy } from '../../base/grouped-by.js';
import { Markup, markup } from '../../base/markup.js';
import { gigabytes } from '../../base/gigabytes.js';
import { counted } from '../../base/counted.js';
import type { System } from '../../measurement/system.js';
import { runtimeText } from '../../measurement/runtime-settings.js';
import { toSystemDocument } from '../../measurement/system-document.js';
import type { KeptEstimate } from '../../measuring/estimates.js';
import { link, columnsMarkup, type MarkupColumn } from '../table.js';
import {
  chooseColumn,
  comparisonForm,
  configurationText,
  ESTIMATE_COLUMNS,
  keptEstimatesChart,
  latencyCell,
  latencyHint,
  modelAddress,
  systemAddress,
  systemNames,
} from './estimate-cells.js';
import { address, facts, messageMarkup, section, type SiteContent, timeText } from './layout.js';

export interface EstimatesView {
  readonly estimates: readonly KeptEstimate[];
  readonly systems: ReadonlyMap<string, System>;
}

export interface EstimateFilter {
  readonly q: string;
  readonly system: string;
  readonly plugin: string;
  readonly batch: string;
}

/** More rows and columns are not legible; a filter finds the others. */
const MAX_ROWS = 250;
const MAX_SYSTEMS = 40;

const MAX_DRAWN = 60;

interface ModelRow {
  readonly name: string;
  readonly configuration: string;
  readonly onSystem: ReadonlyMap<string, KeptEstimate>;
}

function listRows(estimates: readonly KeptEstimate[]): readonly ModelRow[] {
  const configured = groupedBy(estimates, (one) => {
    const { plugin, model, version, graph, batch, dimensions, settings } = one;
    return JSON.stringify([model, plugin, version, batch, dimensions, settings, graph]);
  });
  return [...configured]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, of]) => ({
      name: of[0].model,
      configuration: configurationText(of[0]),
      onSystem: new Map(of.map((estimate) => [estimate.system, estimate])),
    }));
}

function choice(name: string, label: string, chosen: string, values: readonly (readonly [string, string])[]): Markup {
  const options = [['', 'all'] as const, ...values].map(([value, text]) => {
    const isChosen = value === chosen ? Markup.trusted(' selected') : '';
    return markup`<option value="${value}"${isChosen}>${text}</option>`;
  });
  return markup`<label>${label}<select name="${name}">${options}</select></label>`;
}

function filterForm(all: EstimatesView, { q, system, plugin, batch }: EstimateFilter): Markup {
  const nameOf = systemNames([...all.systems.values()]);
  const differing = (values: readonly string[]): readonly (readonly [string, string])[] =>
    [...new Set(values)].sort().map((value) => [value, value] as const);
  const systems = [...new Set(all.estimates.map((one) => one.system))].map((one) => [one, nameOf(one)] as const);
  return markup`<form class="row" method="get" action="/">
<label>Search<input type="search" name="q" value="${q}" placeholder="model, system, settings"></label>
${choice('system', 'System', system, systems)}
${choice('plugin', 'Plugin', plugin, differing(all.estimates.map((one) => one.plugin)))}
${choice('batch', 'Batch', batch, differing(all.estimates.map((one) => String(one.batch))))}
<button>Show</button></form>`;
}

/** @param all the estimates before the filter */
export function matrixPage(
  { estimates, systems }: EstimatesView,
  all: EstimatesView,
  filter: EstimateFilter,
  running: Markup | undefined,
): SiteContent {
  const nameOf = systemNames([...systems.values()]);
  const rows = listRows(estimates);
  const shown = rows.slice(0, MAX_ROWS);
  const fingerprints = [...new Set(estimates.map(({ system }) => system))].sort((a, b) =>
    nameOf(a).localeCompare(nameOf(b)),
  );
  const columns: MarkupColumn<ModelRow>[] = [
    { title: 'model', cell: ({ name }) => link(modelAddress(name), name) },
    { title: 'with', cell: ({ configuration }) => configuration },
    ...fingerprints.slice(0, MAX_SYSTEMS).map((fingerprint): MarkupColumn<ModelRow> => {
      const of = ({ onSystem }: ModelRow): KeptEstimate | undefined => onSystem.get(fingerprint);
      return {
        title: markup`${link(systemAddress(fingerprint), nameOf(fingerprint))} (ms)`,
        align: 'right',
        cell: (row) => {
          const estimate = of(row);
          return estimate === undefined ? '' : latencyCell(estimate);
        },
        hint: (row) => {
          const estimate = of(row);
          return estimate && `${row.name}: ${latencyHint(estimate)}`;
        },
      };
    }),
  ];
  const hidden = [
    ...(rows.length > shown.length ? [counted(rows.length - shown.length, 'more row')] : []),
    ...(fingerprints.length > MAX_SYSTEMS ? [counted(fingerprints.length - MAX_SYSTEMS, 'more system')] : []),
  ];
  const models = new Set(estimates.map(({ model }) => model)).size;
  const summary =
    all.estimates.length === 0
      ? 'The store has no estimates yet. An evaluation, or `mlmodelscope dlbricks run MODEL` with the same store, makes some.'
      : `${counted(models, 'model')} on ${counted(fingerprints.length, 'system')}, in ms. ± is the distance from the estimate to the upper end of its 95 % interval.`;
  return {
    title: 'Models and systems',
    body: markup`<h1>Models and systems</h1>
${running}
${all.estimates.length === 0 ? undefined : filterForm(all, filter)}
<p>${messageMarkup(summary)}</p>
${hidden.length === 0 ? undefined : markup`<p class="problem">${hidden.join(' and ')} are not shown: use the filter.</p>`}
${all.estimates.length === 0 ? undefined : markup`<div class="matrix">${columnsMarkup('Models and systems', columns, shown)}</div>`}`,
  };
}

/** Drawn and listed, and to choose from. */
function estimatesSection(
  title: string,
  estimates: readonly KeptEstimate[],
  first: MarkupColumn<KeptEstimate>,
  label: (estimate: KeptEstimate) => string,
): Markup {
  const table = columnsMarkup(title, [first, ...ESTIMATE_COLUMNS, chooseColumn(label)], estimates);
  return section(title, [keptEstimatesChart(estimates.slice(0, MAX_DRAWN), label), comparisonForm(table)]);
}

export function modelPage(name: string, { estimates, systems }: EstimatesView): SiteContent {
  const nameOf = systemNames([...systems.values()]);
  const label = (estimate: KeptEstimate): string => `${nameOf(estimate.system)}, ${configurationText(estimate)}`;
  const sorted = estimates.toSorted((a, b) => (a.latencyMs ?? Infinity) - (b.latencyMs ?? Infinity));
  const ofSystem = ({ system }: KeptEstimate): Markup => link(systemAddress(system), nameOf(system));
  const graphs = [...new Set(estimates.flatMap(({ graph }) => graph ?? []))];
  return {
    title: name,
    body: markup`<h1>${name}</h1>
<p class="verdict">${counted(sorted.length, 'estimate')} on ${counted(new Set(sorted.map(({ system }) => system)).size, 'system')}.</p>
${estimatesSection('Latency by system', sorted, { title: 'system', cell: ofSystem }, label)}
${graphs.length === 0 ? undefined : section('Graph', [facts(graphs.map((graph) => ['signature', graph] as const))])}`,
  };
}

function systemFacts(system: System): Markup {
  const { processor, architecture, operatingSystem, cores, memoryBytes, runOptions, framework, frameworkVersion } =
    system;
  const settings = runtimeText(toSystemDocument(system));
  return facts([
    ['processor', `${processor} (${architecture})`],
    ['cores and memory', `${counted(cores, 'core')}, ${gigabytes(memoryBytes)}`],
    ['operating system', operatingSystem],
    ['runtime', `${framework} ${frameworkVersion}, ${runOptions.executionProvider}`],
    ['threads', String(runOptions.threads)],
    ['settings', settings === '' ? 'default' : settings],
    ['fingerprint', system.fingerprint],
  ]);
}

export function systemsPage({ estimates, systems }: EstimatesView): SiteContent {
  const known = [...systems.values()];
  const nameOf = systemNames(known);
  const counts = groupedBy(estimates, ({ system }) => system);
  const columns: MarkupColumn<System>[] = [
    { title: 'system', cell: ({ fingerprint }) => link(systemAddress(fingerprint), nameOf(fingerprint)) },
    { title: 'operating system', cell: ({ operatingSystem }) => operatingSystem },
    { title: 'estimates', align: 'right', cell: ({ fingerprint }) => String(counts.get(fingerprint)?.length ?? 0) },
    {
      title: 'fingerprint',
      cell: ({ fingerprint }) => fingerprint.slice(0, 12),
      whole: ({ fingerprint }) => fingerprint,
    },
  ];
  return {
    title: 'Systems',
    body: markup`<h1>Systems</h1>${columnsMarkup('Systems', columns, known)}`,
  };
}

export function systemPage(system: System, { estimates, systems }: EstimatesView): SiteContent {
  const name = systemNames([...systems.values()])(system.fingerprint);
  const label = (estimate: KeptEstimate): string => `${estimate.model}, ${configurationText(estimate)}`;
  const sorted = estimates.toSorted((a, b) => a.model.localeCompare(b.model));
  return {
    title: name,
    body: markup`<h1>${name}</h1>
${systemFacts(system)}
${estimatesSection('Models', sorted, { title: 'model', cell: ({ model }) => link(modelAddress(model), model) }, label)}`,
  };
}

/** @param history the oldest first, at least one */
export function historyPage(history: readonly KeptEstimate[], systems: EstimatesView['systems']): SiteContent {
  const [newest = undefined, ...earlier] = history.toReversed();
  if (newest === undefined) return { title: 'No estimate', body: markup`<h1>No estimate</h1>` };
  const system = systemNames([...systems.values()])(newest.system);
  const title = `${newest.model} on ${system}`;
  const all = [newest, ...earlier];
  const columns: MarkupColumn<KeptEstimate>[] = [
    { title: 'time', cell: ({ at }) => timeText(at) },
    ...ESTIMATE_COLUMNS.filter(({ title: of }) => of !== 'with' && of !== 'time'),
  ];
  return {
    title,
    body: markup`<h1>${link(modelAddress(newest.model), newest.model)} on ${link(systemAddress(newest.system), system)}</h1>
<p class="verdict">${latencyHint(newest)}.</p>
${section('History', [keptEstimatesChart(all.slice(0, MAX_DRAWN), ({ at }) => timeText(at)), columnsMarkup('History', columns, all)], 'An estimate that says the same as the one before is not kept again.')}
${section('Compare', [markup`<p>${link(address('/compare', [['of', newest.subject]]), 'Compare with other estimates')}</p>`])}`,
  };
}
