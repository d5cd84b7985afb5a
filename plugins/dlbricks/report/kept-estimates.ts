import {
  type Achieved,
  type EstimatedBricks,
  type LoadedModel,
  type NewEstimate,
  dimensionsText,
} from '../../../src/plugin-api.js';
import { describeCut } from './configuration.js';
import type { ModelReport, Report } from './report-schema.js';

/** The settings of a report by which its estimates differ from those of others, beside the system; '' for the default. */
function describeSettings(report: Report): string {
  const { cut, granularity, keep_dynamic: isDynamic } = report.settings;
  const isUsual = cut === 'kernel' && granularity === 1;
  return [...(isUsual ? [] : [describeCut(report)]), ...(isDynamic ? ['open dimensions kept'] : [])].join(', ');
}

function buildEstimatedBricks({ summary }: Report, { bricks }: ModelReport): EstimatedBricks {
  return {
    spread_percent: summary.spread_percent,
    bricks: bricks.map(({ signature, operators, sequences, latency_ms, occasions }) => {
      return { signature, operators, sequences, latency_ms, occasions };
    }),
  };
}

export function readAchieved(report: Report): ReadonlyMap<string, Achieved> {
  return new Map(
    report.models.map((model) => {
      const { name, estimate_ms, estimate_low_ms, estimate_high_ms, end_to_end_ms } = model;
      const figures = { latency_ms: estimate_ms, low_ms: estimate_low_ms, high_ms: estimate_high_ms };
      return [name, { ...figures, whole_ms: end_to_end_ms, parts: buildEstimatedBricks(report, model) }];
    }),
  );
}

export function listKeptEstimates(report: Report, loaded: readonly LoadedModel[]): readonly NewEstimate[] {
  const { settings } = report;
  return report.models.map((model, index): NewEstimate => {
    const of = loaded[index];
    const values = model.values_of_run === null ? [] : [`values of a run (${model.values_of_run})`];
    const isWhole = model.estimate_ms !== null && model.coverage === 1;
    return {
      plugin: 'dlbricks',
      model: model.name,
      version: of?.manifest?.version ?? null,
      graph: model.graph_signature,
      batch: settings.batch,
      dimensions: of === undefined ? '' : dimensionsText(of, settings.batch),
      settings: [describeSettings(report), ...values].filter((text) => text !== '').join(', '),
      latencyMs: model.estimate_ms,
      lowMs: model.estimate_low_ms,
      highMs: model.estimate_high_ms,
      wholeMs: model.end_to_end_ms,
      coverage: model.coverage,
      parts: buildEstimatedBricks(report, model),
      reason: isWhole ? null : (model.missing[0]?.reason ?? 'its work depends on made-up values'),
    };
  });
}
