import { throwIfCancelled } from '../../base/cancellation.js';
import { PlatformError } from '../../base/errors.js';
import type { PredictedFeature } from '../../processing/postprocess.js';
import type { EncodedImage } from '../../processing/preprocess.js';
import { traced } from '../../tracing/tracing.js';
import type { ModelInUse } from './open-models.js';
import type { BatchInput, Predicted } from '../jobs/predict-session.js';

/**
 * Most bytes of the encoded pictures of one batch. Each picture is in memory three times: here, in transit, and in the
 * process that decodes it.
 */
const MAX_BATCH_BYTES = 64 * 2 ** 20;

/** Most bytes of one encoded picture: far more than those of cameras. */
export const MAX_IMAGE_BYTES = 32 * 2 ** 20;

/** Most bytes of the features in one answer. Until it is sent, they take several times as much memory here. */
const MAX_ANSWER_BYTES = 16 * 2 ** 20;

/** Of each feature, beside its output or label: its id and type, for the most part. */
const FEATURE_BYTES = 80;

/** A batch on its way to the model. */
export interface InputBatch {
  /** Ids of its elements in the answers. */
  readonly ids: readonly string[];
  readonly input: BatchInput;
}

/** The features of one element. */
export interface ElementResult {
  readonly id: string;
  readonly features: readonly PredictedFeature[];
  /** Place of its batch, from 0. */
  readonly batchIndex: number;
  readonly batch: Predicted;
}

/**
 * Pictures in batches. Each picture is fetched when its batch is next.
 *
 * @param fetchImage fetches the bytes of an element, up to the given limit
 */
export async function* imageBatches<T>(
  elements: readonly T[],
  batchSize: number,
  fetchImage: (element: T, place: number, maxBytes: number) => EncodedImage | Promise<EncodedImage>,
): AsyncGenerator<InputBatch> {
  for (let start = 0; start < elements.length; start += batchSize) {
    const images: EncodedImage[] = [];
    let leftBytes = MAX_BATCH_BYTES;
    for (const [i, element] of elements.slice(start, start + batchSize).entries()) {
      const image = await fetchImage(element, start + i, Math.min(MAX_IMAGE_BYTES, leftBytes));
      leftBytes -= image.bytes.length;
      images.push(image);
    }
    yield { ids: images.map(({ id }) => id), input: { kind: 'images', images } };
  }
}

/** Batches of elements that are made up. */
export function* madeUpBatches(count: number, batchSize: number): Generator<InputBatch> {
  for (let first = 0; first < count; first += batchSize) {
    const size = Math.min(batchSize, count - first);
    const ids = Array.from({ length: size }, (_, i) => String(first + i));
    yield { ids, input: { kind: 'made-up', first, count: size } };
  }
}

function bytesOf(features: readonly PredictedFeature[]): number {
  return features.reduce((sum, feature) => {
    return sum + FEATURE_BYTES + (feature.kind === 'raw' ? feature.bytes.length : feature.label.length);
  }, 0);
}

/**
 * Predicts batch by batch.
 *
 * @throws PlatformError `usage` where the answer would be too large, and what the batches and the model throw
 */
export async function predictBatches(
  model: ModelInUse,
  batches: AsyncIterable<InputBatch> | Iterable<InputBatch>,
  featureLimit: number,
  signal: AbortSignal,
): Promise<readonly ElementResult[]> {
  const results: ElementResult[] = [];
  let answerBytes = 0;
  let batchIndex = 0;
  for await (const { ids, input } of batches) {
    throwIfCancelled(signal);
    const span = { level: 'APPLICATION_TRACE', attributes: { batch_index: batchIndex } } as const;
    const batch = await traced('evaluate_batch', span, () => model.predict({ input, featureLimit }, signal));
    for (const [i, id] of ids.entries()) {
      const features = batch.features[i] ?? [];
      answerBytes += bytesOf(features);
      if (answerBytes > MAX_ANSWER_BYTES) {
        const advice = `ask for ${results.length} elements at most, or set feature_limit`;
        throw new PlatformError('usage', `the features take more than ${MAX_ANSWER_BYTES} bytes; ${advice}`);
      }
      results.push({ id, features, batchIndex, batch });
    }
    batchIndex++;
  }
  return results;
}
