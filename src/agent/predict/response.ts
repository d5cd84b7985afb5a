import { randomUUID } from 'node:crypto';
import { type Feature, FeatureType } from '../../generated/mlmodelscope/org/dlframework/features.js';
import type { FeatureResponse, FeaturesResponse } from '../../generated/mlmodelscope/org/dlframework/predictor.js';
import type { PredictedFeature } from '../../processing/postprocess.js';
import { toWireDuration } from '../../rpc/duration.js';
import { activeTracing } from '../../tracing/tracing.js';
import { includesLevel } from '../../tracing/trace-level.js';
import type { ElementResult } from './batches.js';
import type { PredictOptions } from './options.js';

function toWireFeature(feature: PredictedFeature): Feature {
  const id = randomUUID();
  if (feature.kind === 'classification') {
    const { index, label, probability } = feature;
    const value = { index, label };
    return {
      id,
      type: FeatureType.CLASSIFICATION,
      probability,
      metadata: {},
      feature: { $case: 'classification', value },
    };
  }
  const { output, elementType, dims, bytes } = feature;
  return {
    id,
    type: FeatureType.RAW,
    probability: 0,
    metadata: { name: output, element_type: elementType, dimensions: `[${dims.join(',')}]` },
    feature: { $case: 'raw', value: { data: bytes, format: elementType } },
  };
}

/** Attributes of an element's batch in a trace at APPLICATION_TRACE. */
function timesOf({ batch, batchIndex }: ElementResult): FeatureResponse['metadata'] {
  return {
    batch_index: String(batchIndex),
    batch_size: String(batch.features.length),
    preprocess_ms: batch.preprocessMs.toFixed(3),
    inference_ms: batch.inferenceMs.toFixed(3),
    postprocess_ms: batch.postprocessMs.toFixed(3),
  };
}

/** @param elapsedMs since the call began */
export function toFeaturesResponse(
  results: readonly ElementResult[],
  { requestId, traceId, traceLevel }: PredictOptions,
  elapsedMs: number,
): FeaturesResponse {
  const id = activeTracing()?.traceId() ?? traceId;
  const isTraced = includesLevel(traceLevel, 'APPLICATION_TRACE');
  const batches = new Map(results.map(({ batchIndex, batch }) => [batchIndex, batch.inferenceMs]));
  const inferenceMs = [...batches.values()].reduce((sum, ms) => sum + ms, 0);
  return {
    id: randomUUID(),
    traceId: id === '' ? undefined : { id },
    responses: results.map((result) => ({
      id: randomUUID(),
      requestId,
      inputId: result.id,
      features: result.features.map(toWireFeature),
      metadata: isTraced ? timesOf(result) : {},
    })),
    durationForInference: toWireDuration(inferenceMs),
    duration: toWireDuration(elapsedMs),
  };
}
