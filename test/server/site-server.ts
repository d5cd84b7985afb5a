import { reportPage } from '../../plugins/dlbricks/report/report-page.js';
import { reportResult } from '../../plugins/dlbricks/report/show-report.js';
import { buildReport } from '../../plugins/dlbricks/report/report.js';
import type { Evaluation } from '../../src/evaluation/evaluation.js';
import { keepEstimates, type NewEstimate } from '../../src/measuring/estimates.js';
import type { ResultStore } from '../../src/store/result-store.js';
import { resultsMarkup } from '../../src/web/page.js';
import { endToEndOf, estimateOf, resultOf, SETTINGS } from '../plugins/dlbricks/report/sample-result.js';
import { sampleMeasurement, sampleSystem, SYSTEM } from '../store/sample-measurement.js';
import type { Lifetime } from '../support/lifetime.js';
import { serving, type ServingOptions } from './serving.js';

/** Names as a model's file may have them: the end of a script, an element, a formula, right-to-left, 10 KB. */
export const HOSTILE = [
  '</script><script>document.title = "taken"</script>',
  '"><img src=x onerror="document.title = \'taken\'">',
  '=HYPERLINK("http://example.com")',
  'נמוך \u202eexe.lmth',
  'long'.repeat(2560),
] as const;

export function newEstimate(changes: Partial<NewEstimate> = {}): NewEstimate {
  return {
    plugin: 'dlbricks',
    model: 'resnet18',
    version: '1.0',
    graph: 'a'.repeat(64),
    batch: 1,
    dimensions: '',
    settings: '',
    latencyMs: 10,
    lowMs: 9.5,
    highMs: 10.5,
    wholeMs: 10.1,
    coverage: 1,
    reason: null,
    ...changes,
  };
}

export const OTHER_SYSTEM = sampleSystem({ processor: `Other </script><b>${HOSTILE[1]}` });

/** Estimates of ordinary and hostile names on two systems, a history, and the measurements of a brick. */
export async function fillStore(store: ResultStore): Promise<void> {
  await keepEstimates(store, SYSTEM, [newEstimate({ latencyMs: 12 })]);
  await new Promise((resolve) => setTimeout(resolve, 2));
  const names = ['resnet18', 'squeezenet', ...HOSTILE];
  for (const [index, system] of [SYSTEM, OTHER_SYSTEM].entries()) {
    const on = names.map((model, at) => {
      const latencyMs = 10 + at + index;
      return newEstimate({
        model,
        latencyMs,
        lowMs: latencyMs - 0.5,
        highMs: latencyMs + 0.5,
        settings: model.slice(0, 20),
      });
    });
    await keepEstimates(store, system, [newEstimate({ latencyMs: 10 + index }), ...on]);
  }
  for (const occasion of [1, 2]) await store.putMeasurement(sampleMeasurement(1, { occasion }));
}

/** The result of an evaluation as dlbricks shows it. */
export function shownReport(): string {
  const models = ['resnet18', ...HOSTILE].map((name, index) => ({
    estimate: estimateOf(name, 10.9 + index),
    endToEnd: endToEndOf(0, 10, 5000, 10.4 + index),
  }));
  const reports = [buildReport(resultOf(models), SETTINGS)];
  const shown = { result: () => reportResult(reports), page: () => reportPage(reports) };
  return resultsMarkup([shown], { level: 2, root: '/' }).body.text;
}

export interface SiteOptions extends Omit<ServingOptions, 'http'> {
  readonly http?: Partial<NonNullable<ServingOptions['http']>> | undefined;
}

/** A server with pages, on loopback, with its address as an URL. */
export async function siteServing(t: Lifetime, options: SiteOptions = {}) {
  const listen = { host: '127.0.0.1', port: 0 };
  const http = { listen, showResult: () => Promise.resolve(shownReport()), ...options.http };
  const served = await serving(t, { ...options, http });
  return { ...served, url: `http${options.identity === undefined ? '' : 's'}://${served.server.httpAddress}` };
}

/** An evaluation that is measured until `step` resolves for the last time. */
export function stepwise(steps: number, step: (index: number) => Promise<void>, name = 'fake'): Evaluation['run'] {
  return async function* (_request, { signal }) {
    yield { kind: 'planned', summary: `${name}: ${steps} steps`, known: 0, toMeasure: steps };
    for (let index = 0; index < steps && !signal.aborted; index++) {
      yield { kind: 'measuring', done: index, total: steps, label: `step ${HOSTILE[1]}` };
      yield { kind: 'note', level: 'info', message: `note ${index} ${HOSTILE[0]}` };
      await step(index);
    }
    if (signal.aborted) return;
    yield { kind: 'estimate', model: 'resnet18', latencyMs: 10, lowMs: 9, highMs: 11, coverage: 1 };
    yield { kind: 'done', result: { answer: 42 }, partial: false };
  };
}
