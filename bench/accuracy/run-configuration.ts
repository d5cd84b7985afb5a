import { runEstimation } from '../../plugins/dlbricks/estimation.js';
import type { MeasuringContext } from '../../src/measuring/measuring.js';
import type { EstimateResult } from '../../plugins/dlbricks/report/evaluation-result.js';
import type { Report } from '../../plugins/dlbricks/report/report-schema.js';
import { settingsSchema } from '../../plugins/dlbricks/settings.js';
import { DEFAULT_LIMITS, DEFAULT_PROTOCOL } from '../../src/manifest/evaluation.js';
import { loadModel } from '../../src/registry/load-model.js';
import type { TableConfiguration } from './configurations.js';
import type { Growth } from './plots.js';

/** The settings of `dlbricks validate`; a test checks that they are the same. */
export const SETTINGS = settingsSchema.parse({ measure_end_to_end: true });

export interface TableOutcome {
  readonly configuration: TableConfiguration;
  readonly report: Report;
  readonly growth: readonly Growth[];
  /** Largest resident memory of the measuring process for a whole model, and for a brick. */
  readonly wholePeakBytes: number;
  readonly brickPeakBytes: number;
}

/** Total cost of all measurements after each model, as if the models were added one by one. */
function growthOf({ models }: EstimateResult): readonly Growth[] {
  const seen = new Set<string>();
  let wholeMs = 0;
  let brickMs = 0;
  return models.map(({ estimate, endToEnd }) => {
    wholeMs += (endToEnd?.first?.costMs ?? 0) + (endToEnd?.repeat?.costMs ?? 0);
    for (const { benchmark, costMs } of estimate.parts) {
      if (!seen.has(benchmark)) brickMs += costMs;
      seen.add(benchmark);
    }
    return { model: estimate.name, wholeSeconds: wholeMs / 1000, brickSeconds: brickMs / 1000 };
  });
}

/** @throws PlatformError as `evaluate` does */
export async function runConfiguration(
  configuration: TableConfiguration,
  context: MeasuringContext,
): Promise<TableOutcome> {
  const { threads, batch } = configuration;
  const startMs = performance.now();
  const models = [];
  for (const { reference } of configuration.models) {
    models.push(await loadModel(reference, { batch, signal: context.signal }));
  }
  const { result, report } = await runEstimation(
    { models, settings: SETTINGS, threads, batch, protocol: DEFAULT_PROTOCOL, limits: DEFAULT_LIMITS, startMs },
    context,
  );
  const wholes = result.models.flatMap(({ endToEnd }) => endToEnd?.first?.peakMemoryBytes ?? []);
  return {
    configuration,
    report,
    growth: growthOf(result),
    wholePeakBytes: Math.max(0, ...wholes),
    brickPeakBytes: Math.max(0, ...result.bricks.map(({ peakMemoryBytes }) => peakMemoryBytes)),
  };
}
