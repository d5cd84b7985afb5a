import { randomUUID } from 'node:crypto';
import type { DescribedPredictor, Prediction } from '../../agent/client/prediction-client.js';
import { type InputFeature, keepPredictions } from '../../platform-documents/keep-predictions.js';
import type { PredictedFeature } from '../../processing/feature.js';
import type { ResultStore } from '../../store/result-store.js';

export interface PublishedPredictions {
  readonly predictions: readonly Prediction[];
  readonly described: DescribedPredictor;
  /** Source of the inputs: a dataset of the agent, or the kind of the inputs. */
  readonly dataset: { readonly category: string; readonly name: string };
  readonly traceId: string;
}

/** The published form of a feature. Masks and raw outputs are left out: they would make documents of many megabytes. */
function publishedFeature(feature: PredictedFeature): readonly InputFeature[] {
  switch (feature.kind) {
    case 'classification': {
      const { index, label, probability } = feature;
      return [{ index, label, probability }];
    }
    case 'bounding_box':
    case 'instance_segment': {
      const { index, label, probability, xmin, xmax, ymin, ymax } = feature;
      return [{ index, label, probability, corners: { xmin, xmax, ymin, ymax } }];
    }
    case 'semantic_segment':
    case 'raw':
      return [];
  }
}

/**
 * As the platform's own documents. Only batches of the largest size are runs of the evaluation, not a smaller last one.
 * @returns the evaluation's identifier @throws PlatformError `storage`
 */
export function publish(
  store: ResultStore,
  { predictions, described, dataset, traceId }: PublishedPredictions,
): Promise<string> {
  const batches = predictions.flatMap(({ batch }) => batch ?? []);
  const batchSize = batches.reduce((most, { size }) => Math.max(most, size), 1);
  const { modelName, modelVersion, framework, system, hostname } = described;
  return keepPredictions(store, {
    id: randomUUID(),
    model: { name: modelName, manifest: { version: modelVersion, framework }, batchSize },
    system,
    host: hostname,
    dataset,
    endedAt: new Date().toISOString(),
    runMs: batches.filter(({ size }) => size === batchSize).map(({ inferenceMs }) => inferenceMs),
    inputs: predictions.map(({ inputId, outcome }) => {
      return { inputId, features: outcome.kind === 'features' ? outcome.features.flatMap(publishedFeature) : [] };
    }),
    traceId,
  });
}
