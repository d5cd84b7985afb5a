import {
  type Evaluation,
  type LoadedModel,
  PlatformError,
  type UnusableModel,
  unusableModel,
  whileTelling,
  withBatch,
} from '../../src/plugin-api.js';
import { axesOf, listCells } from './cells.js';
import { runEstimations } from './estimation.js';
import { describeConfiguration } from './report/configuration.js';
import { isPartial } from './report/report.js';
import { showReportsTogether } from './report/show-report.js';
import { type Settings, settingsSchema } from './settings.js';

/** The models with a size of the batch, and those that cannot have it. */
function rebound(models: readonly LoadedModel[], bound: number, batch: number) {
  const fitting: LoadedModel[] = [];
  const unusable: UnusableModel[] = [];
  for (const model of models) {
    try {
      fitting.push(withBatch(model, bound, batch));
    } catch (error) {
      unusable.push(unusableModel(model.name, error));
    }
  }
  return { models: fitting, unusable };
}

/** `dlbricks run` for manifests on a server, with the same report as result. */
export const dlbricksEvaluation: Evaluation<Settings> = {
  name: 'dlbricks',
  version: '0.1.0',
  settings: settingsSchema,
  show: (result, options) => showReportsTogether([result], options),
  showTogether: showReportsTogether,

  async *run(
    { evaluation: { manifest, identities, models, unusable, protocol, limits }, settings },
    { agent, store, signal },
  ) {
    const startMs = performance.now();
    const { name: evaluation, threads, batch_size: bound, trace_url_template: traceUrlTemplate } = manifest;
    const cells = listCells(axesOf(settings.matrix), { threads, settings }, agent.description);
    const estimations = (settings.matrix?.batch_size ?? [bound]).flatMap((batch) => {
      const of = rebound(models, bound, batch);
      const common = { evaluation, identities, models: of.models, unusable: [...unusable, ...of.unusable] };
      return cells.map((cell) => ({ ...common, ...cell, batch, protocol, limits, traceUrlTemplate, startMs }));
    });
    const estimated = yield* whileTelling((onEvent) => runEstimations(estimations, { agent, store, signal, onEvent }));
    if (estimated.some(({ result }) => result.interrupted)) {
      throw new PlatformError('cancelled', 'interrupted; everything measured so far is kept');
    }
    const reports = estimated.map(({ report }) => report);
    for (const report of reports) {
      const cell = reports.length === 1 ? '' : `, ${describeConfiguration(report, reports)}`;
      for (const { name, coverage, ...model } of report.models) {
        yield {
          kind: 'estimate',
          model: name + cell,
          latencyMs: model.estimate_ms ?? undefined,
          lowMs: model.estimate_low_ms ?? undefined,
          highMs: model.estimate_high_ms ?? undefined,
          coverage,
        };
      }
    }
    const result = settings.matrix === undefined ? reports[0] : { reports };
    yield { kind: 'done', result, partial: reports.some(isPartial) };
  },
};
