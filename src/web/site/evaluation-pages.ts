import { formatMs } from '../../base/format-ms.js';
import { maxOf } from '../../base/long-lists.js';
import { Markup, markup } from '../../base/markup.js';
import type { LoggedEvent, PlatformEvent } from '../../evaluation/event.js';
import { type EvaluationRecord, evaluationHasEnded, EVALUATION_STATES } from '../../evaluation/records.js';
import { latencyChart } from '../charts.js';
import { link, columnsMarkup, type MarkupColumn } from '../table.js';
import { coverageText, intervalText } from './estimate-cells.js';
import { address, facts, messageMarkup, section, type SiteContent, timeText } from './layout.js';

/** The newest are at the end. */
const MAX_EVENTS = 200;

function evaluationAddress(id: string): string {
  return `/evaluations/${id}`;
}

/** undefined for events that have a place of their own */
export function eventText(event: PlatformEvent): string | undefined {
  switch (event.kind) {
    case 'waiting':
      return `waiting: ${event.reason}`;
    case 'started':
      return `started by ${event.plugin} ${event.pluginVersion} on ${event.agent}`;
    case 'planned':
      return event.summary;
    case 'measuring':
      return undefined;
    case 'estimate': {
      const on = event.system === undefined ? '' : ` on ${event.system}`;
      return `${event.model}${on}: ${formatMs(event.latencyMs)} ms`;
    }
    case 'note':
      return event.level === 'warning' ? `warning: ${event.message}` : event.message;
    case 'failed':
      return `failed: ${event.message}`;
    case 'cancelled':
      return 'cancelled';
    case 'done':
      return event.partial ? 'done; a part of the result is missing' : 'done';
  }
}

export function progressText(event: PlatformEvent & { readonly kind: 'measuring' }): string {
  const { done, total, label, secondsLeft, step } = event;
  const count = total === 0 ? '' : `${step ?? 'measuring'} ${done} of ${total}: `;
  return `${count}${label}${secondsLeft === undefined ? '' : `, about ${Math.ceil(secondsLeft)} s left`}`;
}

function stateMarkup(state: string): Markup {
  return markup`<span class="state-word">${state}</span>`;
}

const LIST_COLUMNS: readonly MarkupColumn<EvaluationRecord>[] = [
  { title: 'name', cell: ({ id, name }) => link(evaluationAddress(id), name) },
  { title: 'state', cell: ({ state }) => stateMarkup(state) },
  { title: 'plugin', cell: ({ plugin }) => plugin },
  { title: 'submitted', cell: ({ submittedAt }) => timeText(submittedAt) },
  { title: 'changed', cell: ({ changedAt }) => timeText(changedAt) },
  { title: 'id', cell: ({ id }) => id.slice(0, 8), whole: ({ id }) => id },
];

/** For the first page; undefined for none. */
export function runningSection(records: readonly EvaluationRecord[]): Markup | undefined {
  const running = records.filter((record) => !evaluationHasEnded(record));
  if (running.length === 0) return undefined;
  return section('Evaluations now', [columnsMarkup('Evaluations now', LIST_COLUMNS, running)]);
}

export function evaluationsPage(records: readonly EvaluationRecord[], state: string): SiteContent {
  const states = ['', ...EVALUATION_STATES].map((each) => {
    const here = each === state ? Markup.trusted(' aria-current="true"') : '';
    const query = each === '' ? [] : [['state', each] as const];
    return markup`<a href="${address('/evaluations', query)}"${here}>${each === '' ? 'all' : each}</a> `;
  });
  const columns: MarkupColumn<EvaluationRecord>[] = [
    ...LIST_COLUMNS,
    {
      title: 'compare',
      cell: ({ id, name }) =>
        markup`<input type="checkbox" name="evaluation" value="${id}" aria-label="compare ${name} ${id.slice(0, 8)}">`,
    },
  ];
  return {
    title: 'Evaluations',
    body: markup`<h1>Evaluations</h1><p>${states}</p>
<form method="get" action="/compare">${columnsMarkup('Evaluations', columns, records)}
${records.length === 0 ? undefined : markup`<p><button>Compare the chosen ones</button></p>`}</form>`,
  };
}

export interface EvaluationPageView {
  readonly record: EvaluationRecord;
  readonly events: readonly LoggedEvent[];
  readonly result: Markup | undefined;
  /** Why there is no result; undefined where there is one, or none yet. */
  readonly notShown: string | undefined;
  readonly mayCancel: boolean;
}

function estimatesSection(events: readonly LoggedEvent[]): Markup | undefined {
  const estimates = events.flatMap(({ event }) => (event.kind === 'estimate' ? [event] : []));
  type Estimate = (typeof estimates)[number];
  if (estimates.length === 0) return undefined;
  const nameOf = ({ model, system }: Estimate): string => (system === undefined ? model : `${model}, ${system}`);
  const chart = latencyChart(
    estimates.map((one) => ({
      name: nameOf(one),
      value: one.latencyMs ?? null,
      low: one.lowMs ?? null,
      high: one.highMs ?? null,
      text: one.latencyMs === undefined ? 'no estimate' : `${formatMs(one.latencyMs)} ms`,
    })),
  );
  const columns: MarkupColumn<Estimate>[] = [
    { title: 'model', cell: nameOf },
    { title: 'latency (ms)', align: 'right', cell: ({ latencyMs }) => formatMs(latencyMs) },
    { title: 'interval (ms)', align: 'right', cell: ({ lowMs, highMs }) => intervalText(lowMs, highMs) },
    { title: 'coverage', align: 'right', cell: ({ coverage }) => coverageText(coverage) },
  ];
  return section('Estimates', [chart, columnsMarkup('Estimates', columns, estimates)]);
}

export function evaluationPage(view: EvaluationPageView): SiteContent {
  const { record, events, result, notShown, mayCancel } = view;
  const { id, name, plugin, state, submittedAt, changedAt } = record;
  const hasEnded = evaluationHasEnded(record);
  const last = events.at(-1);
  const measuring = last?.event.kind === 'measuring' ? last.event : undefined;
  const sequence = Math.max(0, maxOf(events.map((event) => event.sequence)));
  const lines = events.flatMap(({ event, at }) => {
    const text = eventText(event);
    return text === undefined ? [] : [markup`<li>${timeText(at).slice(11)} ${messageMarkup(text)}</li>\n`];
  });
  const progress = markup`<p><progress aria-label="Progress" max="1" value="${measuring === undefined || measuring.total === 0 ? 0 : measuring.done / measuring.total}"></progress>
<span data-progress>${measuring === undefined ? '' : progressText(measuring)}</span></p>`;
  const cancel = markup`<form data-api="/api/v1/evaluations/${id}/cancel" data-then="${evaluationAddress(id)}"><button>Cancel this evaluation</button><p class="problem" role="alert"></p></form>`;
  return {
    title: `${name} (${state})`,
    body: markup`<h1>${name}</h1>
<div${hasEnded ? '' : markup` data-follow="/api/v1/evaluations/${id}/events" data-after="${sequence}"`}>
<p role="status">${stateMarkup(state)}</p>
${hasEnded ? undefined : progress}
${hasEnded || !mayCancel ? undefined : cancel}
${facts([
  ['id', id],
  ['plugin', plugin],
  ['submitted', timeText(submittedAt)],
  ['changed', timeText(changedAt)],
])}
${notShown === undefined ? undefined : markup`<p class="problem">${messageMarkup(notShown)}</p>`}
${result ?? estimatesSection(events)}
${section('Events', [markup`<ol class="events" tabindex="0" aria-label="Events" data-events>${lines.slice(-MAX_EVENTS)}</ol>`])}
</div>`,
  };
}
