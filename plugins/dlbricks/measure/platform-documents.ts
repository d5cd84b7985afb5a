import {
  type BenchmarkAgent,
  dimensionsText,
  keepWholeModel,
  type KnownResults,
  type LoadedModel,
  type ResultStore,
} from '../../../src/plugin-api.js';
import { findBatchSize, type PreparedModel } from '../bricks/prepare-model.js';
import { FIRST_OCCASION, type MeasureSettings, SECOND_OCCASION } from './tasks.js';

/** Writes the platform's own documents for every measurement of a whole model. It is idempotent. */
export async function keepPlatformDocuments(
  loaded: readonly LoadedModel[],
  prepared: readonly PreparedModel[],
  results: KnownResults,
  settings: MeasureSettings & { readonly traceUrlTemplate?: string | undefined },
  { store, agent }: { readonly store: ResultStore; readonly agent: Pick<BenchmarkAgent, 'description'> },
): Promise<void> {
  const { host } = agent.description;
  for (const [index, each] of loaded.entries()) {
    const { name, manifest, model } = each;
    const benchmark = prepared[index]?.whole;
    if (benchmark === undefined) continue;
    for (const occasion of [FIRST_OCCASION, SECOND_OCCASION]) {
      const measurement = results.get({ benchmark, occasion, ...settings });
      if (measurement === undefined) continue;
      const batchSize = findBatchSize(model);
      const whole = { name, manifest, batchSize, dimensions: dimensionsText(each, batchSize), host, measurement };
      await keepWholeModel(store, whole, settings);
    }
  }
}
