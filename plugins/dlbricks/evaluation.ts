import { type Evaluation, PlatformError, whileTelling } from '../../src/plugin-api.js';
import { runEstimation } from './estimation.js';
import { isPartial } from './report/report.js';
import { showReport, showReportsTogether } from './report/show-report.js';
import { type Settings, settingsSchema } from './settings.js';

/** `dlbricks run` for manifests on a server, with the same report as result. */
export const dlbricksEvaluation: Evaluation<Settings> = {
  name: 'dlbricks',
  version: '0.1.0',
  settings: settingsSchema,
  show: showReport,
  showTogether: showReportsTogether,

  async *run(
    { evaluation: { manifest, identities, models, unusable, protocol, limits }, settings },
    { agent, store, signal },
  ) {
    const startMs = performance.now();
    const { name: evaluation, threads, batch_size: batch, trace_url_template: traceUrlTemplate } = manifest;
    const { result, report } = yield* whileTelling((onEvent) => {
      const settled = { settings, threads, batch, protocol, limits, traceUrlTemplate, startMs };
      const estimation = { evaluation, identities, models, unusable, ...settled };
      return runEstimation(estimation, { agent, store, signal, onEvent });
    });
    if (result.interrupted) throw new PlatformError('cancelled', 'interrupted; everything measured so far is kept');
    for (const { name, coverage, ...model } of report.models) {
      yield {
        kind: 'estimate',
        model: name,
        latencyMs: model.estimate_ms ?? undefined,
        lowMs: model.estimate_low_ms ?? undefined,
        highMs: model.estimate_high_ms ?? undefined,
        coverage,
      };
    }
    yield { kind: 'done', result: report, partial: isPartial(report) };
  },
};
