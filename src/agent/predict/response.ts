import { randomUUID } from 'node:crypto';
import type { FeatureResponse, FeaturesResponse } from '../../generated/mlmodelscope/org/dlframework/predictor.js';
import { toWireDuration } from '../../rpc/duration.js';
import { activeTracing } from '../../tracing/tracing.js';
import { includesLevel } from '../../tracing/trace-level.js';
import { toWireFeature } from '../wire/feature-wire.js';
import type { ElementResult } from './batches.js';
import type { PredictOptions } from './options.js';

/** Metadata on the batch of an element, for calls that are traced at APPLICATION_TRACE or deeper. */
function buildTimes({ batch, batchIndex }: ElementResult): FeatureResponse['metadata'] {
  return {
    batch_index: String(batchIndex),
    batch_size: String(batch.features.length),
    preprocess_ms: batch.preprocessMs.toFixed(3),
    inference_ms: batch.inferenceMs.toFixed(3),
    postprocess_ms: batch.postprocessMs.toFixed(3),
  };
}

export function toFeatureResponse(result: ElementResult, { requestId, traceLevel }: PredictOptions): FeatureResponse {
  return {
    id: randomUUID(),
    requestId,
    inputId: result.id,
    features: result.features.map(toWireFeature),
    metadata: includesLevel(traceLevel, 'APPLICATION_TRACE') ? buildTimes(result) : {},
  };
}

/** Id of the active trace of a call; else the id that its client gives; '' for none. */
export function answeredTraceId({ traceId }: PredictOptions): string {
  return activeTracing()?.traceId() ?? traceId;
}

export function toFeaturesResponse(
  results: readonly ElementResult[],
  options: PredictOptions,
  elapsedMs: number,
): FeaturesResponse {
  const id = answeredTraceId(options);
  const batches = new Map(results.map(({ batchIndex, batch }) => [batchIndex, batch.inferenceMs]));
  const inferenceMs = [...batches.values()].reduce((sum, ms) => sum + ms, 0);
  return {
    id: randomUUID(),
    traceId: id === '' ? undefined : { id },
    responses: results.map((result) => toFeatureResponse(result, options)),
    durationForInference: toWireDuration(inferenceMs),
    duration: toWireDuration(elapsedMs),
  };
}
