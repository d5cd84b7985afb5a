import { throwIfCancelled } from '../../base/cancellation.js';
import { type ErrorCode, PlatformError } from '../../base/errors.js';
import { append, partsOf } from '../../base/long-lists.js';
import type { PredictedFeature } from '../../processing/feature.js';
import type { EncodedImage } from '../../processing/preprocess.js';
import { traced } from '../../tracing/tracing.js';
import type { ModelInUse } from './open-models.js';
import type { BatchInput, Predicted } from '../jobs/predict-session.js';

/**
 * Most bytes of a batch's encoded pictures. Each is in memory three times: here, in transit, and where it is decoded.
 */
const MAX_BATCH_BYTES = 64 * 2 ** 20;

/** Most bytes of one encoded picture: far more than cameras produce. */
export const MAX_IMAGE_BYTES = 32 * 2 ** 20;

/** Most bytes of the features in one answer. Until it is sent, they take several times as much memory here. */
const MAX_ANSWER_BYTES = 16 * 2 ** 20;

/** Bytes of each feature in addition to its output or label: mostly its id and type. */
const FEATURE_BYTES = 80;

export interface FailedElement {
  readonly id: string;
  readonly error: PlatformError;
  readonly position: number;
}

export interface InputBatch {
  readonly ids: readonly string[];
  readonly input: BatchInput;
  readonly failed: readonly FailedElement[];
}

export type Batches = AsyncIterable<InputBatch> | Iterable<InputBatch>;

export interface ElementResult {
  readonly kind: 'result';
  readonly id: string;
  readonly features: readonly PredictedFeature[];
  readonly batchIndex: number;
  readonly batch: Predicted;
}

export type ElementOutcome =
  ElementResult | ({ readonly kind: 'failure'; readonly batchIndex: number } & FailedElement);

export interface ImageElement {
  readonly id: string;
  readonly fetch: (maxBytes: number) => Uint8Array | Promise<Uint8Array>;
}

const OF_ONE_INPUT: ReadonlySet<ErrorCode> = new Set(['usage', 'not_found', 'timeout']);

export async function* imageBatches(
  elements: readonly ImageElement[],
  batchSize: number,
  signal: AbortSignal,
): AsyncGenerator<InputBatch> {
  for (const batch of partsOf(elements, batchSize)) {
    const images: EncodedImage[] = [];
    const failed: FailedElement[] = [];
    let leftBytes = MAX_BATCH_BYTES;
    for (const { id, fetch } of batch) {
      try {
        const bytes = await fetch(Math.min(MAX_IMAGE_BYTES, leftBytes));
        leftBytes -= bytes.length;
        images.push({ id, bytes });
      } catch (error) {
        if (signal.aborted || !(error instanceof PlatformError) || !OF_ONE_INPUT.has(error.code)) throw error;
        failed.push({ id, error, position: images.length });
      }
    }
    yield { ids: images.map(({ id }) => id), input: { kind: 'images', images }, failed };
  }
}

export function* madeUpBatches(count: number, batchSize: number): Generator<InputBatch> {
  for (let first = 0; first < count; first += batchSize) {
    const size = Math.min(batchSize, count - first);
    const ids = Array.from({ length: size }, (_, i) => String(first + i));
    yield { ids, input: { kind: 'made-up', first, count: size }, failed: [] };
  }
}

function bytesOfFeature(feature: PredictedFeature): number {
  switch (feature.kind) {
    case 'raw':
      return feature.bytes.length;
    case 'classification':
    case 'bounding_box':
      return feature.label.length;
    case 'instance_segment':
    case 'semantic_segment':
      // A pixel's class takes up to five bytes on the wire, mostly one.
      return feature.mask.byteLength;
  }
}

export function countFeatureBytes(features: readonly PredictedFeature[]): number {
  return features.reduce((sum, feature) => sum + FEATURE_BYTES + bytesOfFeature(feature), 0);
}

function elementAt(input: BatchInput, position: number): BatchInput {
  switch (input.kind) {
    case 'images':
      return { ...input, images: input.images.slice(position, position + 1) };
    case 'tensors':
      return { ...input, elements: input.elements.slice(position, position + 1) };
    case 'made-up':
      return { ...input, first: input.first + position, count: 1 };
  }
}

function isOfInput(error: unknown): error is PlatformError {
  return error instanceof PlatformError && (error.code === 'usage' || error.code === 'model');
}

export interface PredictSettings {
  readonly featureLimit: number;
  /** Whether an input that cannot be used ends the call, or is left out. */
  readonly onBadInput: 'throw' | 'leave out';
}

async function predictOutcomes(
  model: ModelInUse,
  { ids, input }: Pick<InputBatch, 'ids' | 'input'>,
  { batchIndex, featureLimit, onBadInput, signal }: PredictSettings & { batchIndex: number; signal: AbortSignal },
): Promise<readonly ElementOutcome[]> {
  try {
    const batch = await model.predict({ input, featureLimit }, signal);
    return ids.map((id, i) => ({ kind: 'result', id, features: batch.features[i] ?? [], batchIndex, batch }));
  } catch (error) {
    const [id] = ids;
    if (!isOfInput(error) || id === undefined || onBadInput === 'throw') throw error;
    if (ids.length === 1) return [{ kind: 'failure', id, error, position: 0, batchIndex }];
    const outcomes: ElementOutcome[] = [];
    for (const [position, one] of ids.entries()) {
      const alone = { ids: [one], input: elementAt(input, position) };
      append(outcomes, await predictOutcomes(model, alone, { batchIndex, featureLimit, onBadInput, signal }));
    }
    return outcomes;
  }
}

function inOrder(outcomes: readonly ElementOutcome[], failed: readonly FailedElement[], batchIndex: number) {
  const failures = (position: number): readonly ElementOutcome[] => {
    return failed.filter((one) => one.position === position).map((one) => ({ kind: 'failure', ...one, batchIndex }));
  };
  return [...outcomes.flatMap((outcome, position) => [...failures(position), outcome]), ...failures(outcomes.length)];
}

/** Yields the outcomes of each batch's elements. @throws PlatformError except for an input that is left out */
export async function* predictEach(
  model: ModelInUse,
  batches: Batches,
  settings: PredictSettings,
  signal: AbortSignal,
): AsyncGenerator<readonly ElementOutcome[]> {
  let batchIndex = 0;
  for await (const batch of batches) {
    throwIfCancelled(signal);
    const [firstFailed] = batch.failed;
    if (firstFailed !== undefined && settings.onBadInput === 'throw') throw firstFailed.error;
    const span = { level: 'APPLICATION_TRACE', attributes: { batch_index: batchIndex } } as const;
    const at = { ...settings, batchIndex, signal };
    const outcomes =
      batch.ids.length === 0 ? [] : await traced('evaluate_batch', span, () => predictOutcomes(model, batch, at));
    yield inOrder(outcomes, batch.failed, batchIndex);
    batchIndex++;
  }
}

/**
 * @throws PlatformError `usage` for too large an answer, the first unusable input's error, and as {@link predictEach}
 */
export async function predictBatches(
  model: ModelInUse,
  batches: Batches,
  featureLimit: number,
  signal: AbortSignal,
): Promise<readonly ElementResult[]> {
  const results: ElementResult[] = [];
  let answerBytes = 0;
  for await (const outcomes of predictEach(model, batches, { featureLimit, onBadInput: 'throw' }, signal)) {
    for (const outcome of outcomes) {
      if (outcome.kind === 'failure') throw outcome.error;
      answerBytes += countFeatureBytes(outcome.features);
      if (answerBytes > MAX_ANSWER_BYTES) {
        const advice = `ask for ${results.length} elements at most, or set feature_limit`;
        throw new PlatformError('usage', `the features take more than ${MAX_ANSWER_BYTES} bytes; ${advice}`);
      }
      results.push(outcome);
    }
  }
  return results;
}
