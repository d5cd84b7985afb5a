import { type Evaluation, PlatformError, type ShownResult, whileTelling } from '../../src/plugin-api.js';
import { comparisonSchema } from './compare/comparison-schema.js';
import { shownComparison } from './compare/comparison-result.js';
import { mergeAxes, listRequests } from './cells.js';
import { readEstimation, runEstimations } from './estimation.js';
import { describeConfiguration, describeDimensions } from './report/configuration.js';
import { readAchieved } from './report/kept-estimates.js';
import { isPartial } from './report/report.js';
import { readResult, showReportsTogether } from './report/show-report.js';
import { type Settings, settingsSchema } from './settings.js';
import { layersSchema, shownLayers } from './work/layer-table.js';

/** What `compare` and `layers` exported, for `report`. */
function showOther(document: unknown): ShownResult | undefined {
  const comparison = comparisonSchema.safeParse(document).data;
  if (comparison !== undefined) return shownComparison(comparison);
  const layers = layersSchema.safeParse(document).data;
  return layers && shownLayers(layers);
}

export const dlbricksEvaluation: Evaluation<Settings> = {
  name: 'dlbricks',
  version: '0.1.0',
  settings: settingsSchema,
  show: (result, options) => showReportsTogether([result], options) ?? showOther(result),
  showTogether: showReportsTogether,

  cells: (request, agent) => listRequests(request, mergeAxes(request.settings.matrix), agent),

  achieved: (result) => readResult(result)?.map(readAchieved),

  async *run(request, { agent, store, signal }) {
    const startMs = performance.now();
    const cells = listRequests(request, mergeAxes(request.settings.matrix), agent.description);
    const estimations = cells.map((cell) => readEstimation(cell, agent, startMs));
    const estimated = yield* whileTelling((onEvent) => runEstimations(estimations, { agent, store, signal, onEvent }));
    if (estimated.some(({ result }) => result.interrupted)) {
      throw new PlatformError('cancelled', 'interrupted; everything measured so far is kept');
    }
    const reports = estimated.map(({ report }) => report);
    for (const report of reports) {
      for (const { name, coverage, ...model } of report.models) {
        const sizes = describeDimensions({ ...model, name, coverage }, report, reports);
        const cell = reports.length === 1 ? '' : describeConfiguration(report, reports);
        yield {
          kind: 'estimate',
          model: [name, cell, sizes].filter((part) => part !== '').join(', '),
          latencyMs: model.estimate_ms ?? undefined,
          lowMs: model.estimate_low_ms ?? undefined,
          highMs: model.estimate_high_ms ?? undefined,
          coverage,
        };
      }
    }
    const result = request.settings.matrix === undefined ? reports[0] : { reports };
    yield { kind: 'done', result, partial: reports.some(isPartial) };
  },
};
