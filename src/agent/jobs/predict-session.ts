import { joinedBlocks } from '../../base/joined-blocks.js';
import { sumOf } from '../../base/sum-of.js';
import type { RunOptions } from '../../measurement/system.js';
import { elementCount, tensorBytes } from '../../onnx/model/element-type.js';
import { fillBlocks } from '../../onnx/values/fill.js';
import type { OpenModel, Predictor } from '../../predictor/predictor.js';
import type { TensorValue } from '../../predictor/tensor-value.js';
import type { PredictedFeature } from '../../processing/feature.js';
import { buildFeatures } from '../../processing/postprocess.js';
import type { EncodedImage } from '../../processing/preprocess.js';
import { requireImageInput } from '../../registry/image-input.js';
import type { PredictionInput, PredictionModel } from '../../registry/prediction-model.js';
import type { SpanRecorder } from '../../tracing/span-recorder.js';
import { orRefuse } from '../failure.js';
import { type Inferred, inferProfiled } from './infer-profiled.js';

export type ElementTensors = ReadonlyMap<string, TensorValue>;

/** Pictures, tensors of equal shapes, or made-up values for elements `first`, `first + 1`, … of a dataset. */
export type BatchInput =
  | { readonly kind: 'images'; readonly images: readonly EncodedImage[] }
  | { readonly kind: 'tensors'; readonly elements: readonly ElementTensors[] }
  | { readonly kind: 'made-up'; readonly first: number; readonly count: number };

export interface PredictBatch {
  readonly input: BatchInput;
  /** Most features of each element; 0 for as many as the manifest says. */
  readonly featureLimit: number;
}

export interface Predicted {
  readonly features: readonly (readonly PredictedFeature[])[];
  readonly preprocessMs: number;
  readonly inferenceMs: number;
  readonly postprocessMs: number;
}

type Feeds = ReadonlyMap<string, TensorValue>;

/** Distance of the seeds of two elements: made-up values differ between elements, and not between batches. */
const SEEDS_APART = 1 << 16;

function countElements(input: BatchInput): number {
  switch (input.kind) {
    case 'images':
      return input.images.length;
    case 'tensors':
      return input.elements.length;
    case 'made-up':
      return input.count;
  }
}

function stacked({ name, elementType, isBatched }: PredictionInput, elements: readonly ElementTensors[]): TensorValue {
  const values = elements.flatMap((element) => element.get(name) ?? []);
  const dims = values[0]?.dims ?? [];
  if (!isBatched) return { elementType, dims, bytes: values[0]?.bytes ?? new Uint8Array() };
  const parts = values.map(({ bytes }) => bytes);
  const byteLength = sumOf(parts.map(({ length }) => length));
  return { elementType, dims: [values.length, ...dims], bytes: joinedBlocks(parts, byteLength) };
}

function padded(value: TensorValue, given: number, rows: number): TensorValue {
  if (given === rows) return value;
  const rowBytes = value.bytes.length / given;
  const bytes = new Uint8Array(rowBytes * rows);
  bytes.set(value.bytes);
  const last = value.bytes.subarray((given - 1) * rowBytes);
  for (let row = given; row < rows; row++) bytes.set(last, row * rowBytes);
  return { ...value, dims: [rows, ...value.dims.slice(1)], bytes };
}

function madeUp(input: PredictionInput, first: number, count: number): TensorValue {
  const { elementType, dims, isBatched, fill } = input;
  const copies = isBatched ? count : 1;
  function* blocks(): Generator<Uint8Array> {
    for (let i = 0; i < copies; i++) {
      const seed = fill.seed + (first + i) * SEEDS_APART;
      yield* fillBlocks(elementType, elementCount(dims), { ...fill, seed });
    }
  }
  const bytes = joinedBlocks(blocks(), copies * tensorBytes(input));
  return { elementType, dims: isBatched ? [count, ...dims.slice(1)] : dims, bytes };
}

const loadPreprocessing = () => import('../../processing/preprocess.js');

export class PredictSession {
  private constructor(
    readonly model: PredictionModel,
    private readonly session: OpenModel,
    private readonly predictor: Predictor,
    private readonly runOptions: RunOptions,
  ) {}

  static async open(model: PredictionModel, runOptions: RunOptions, predictor: Predictor): Promise<PredictSession> {
    const session = await orRefuse('open', () => predictor.open({ kind: 'file', path: model.path }, runOptions));
    // The image library takes long to load: only for models of pictures, and before the first batch is timed.
    if (model.inputs.some(({ steps }) => steps !== undefined)) await loadPreprocessing();
    return new PredictSession(model, session, predictor, runOptions);
  }

  /** @throws PlatformError `usage` for an unusable picture, `unsupported` or `model` where the model cannot be run */
  async predict(batch: PredictBatch, recorder: SpanRecorder): Promise<Predicted> {
    const startMs = performance.now();
    const feeds = await recorder.section('preprocess', {}, () => this.preprocess(batch.input));
    const preprocessedMs = performance.now();
    const { outputs, inferenceMs } = await recorder.section('predict', {}, () => {
      return orRefuse('run', () => this.infer(feeds, recorder));
    });
    const inferredMs = performance.now();
    const features = await recorder.section('postprocess', {}, () => {
      return Promise.resolve(this.postprocess(outputs, batch));
    });
    return {
      features,
      preprocessMs: preprocessedMs - startMs,
      inferenceMs,
      postprocessMs: performance.now() - inferredMs,
    };
  }

  private async preprocess(input: BatchInput): Promise<Feeds> {
    const { model } = this;
    if (input.kind === 'made-up') {
      return new Map(model.inputs.map((one) => [one.name, madeUp(one, input.first, input.count)]));
    }
    if (input.kind === 'tensors') {
      return new Map(model.inputs.map((one) => [one.name, stacked(one, input.elements)]));
    }
    const { name, steps, elementType } = requireImageInput(model);
    const { preprocessImages } = await loadPreprocessing();
    const value = await preprocessImages(input.images, steps, elementType);
    return new Map([[name, padded(value, input.images.length, model.fixedBatchSize ?? input.images.length)]]);
  }

  private async infer(feeds: Feeds, recorder: SpanRecorder): Promise<Inferred> {
    const { model, predictor, runOptions } = this;
    if (recorder.wants('FRAMEWORK_TRACE')) {
      const source = { kind: 'file', path: model.path } as const;
      const profiled = await inferProfiled(predictor, source, runOptions, feeds, recorder);
      if (profiled !== undefined) return profiled;
    }
    const inferring = { level: 'MODEL_TRACE', attributes: { evaluation_trace_level: 'MODEL_TRACE' } } as const;
    const startMs = performance.now();
    const run = this.session.prepare(feeds);
    const outputs = await recorder.section('c_predict', inferring, () => run.evaluate());
    return { outputs, inferenceMs: performance.now() - startMs };
  }

  private postprocess(outputs: Feeds, { input, featureLimit }: PredictBatch): readonly (readonly PredictedFeature[])[] {
    const { postprocessors, fixedBatchSize } = this.model;
    const size = countElements(input);
    const rows = fixedBatchSize ?? size;
    return Array.from({ length: size }, (_, row) => {
      return buildFeatures(outputs, postprocessors, { row, rows, limit: featureLimit });
    });
  }
}
