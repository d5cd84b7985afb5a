import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { PlatformError } from '../../../src/base/errors.js';
import type { ImageSteps } from '../../../src/manifest/steps.js';
import { elementCount, type ElementType } from '../../../src/onnx/model/element-type.js';
import type { Dimension, Tensor } from '../../../src/onnx/model/model.js';
import type { PredictionModel } from '../../../src/registry/prediction-model.js';
import { encodeTinyGraph, type TinyGraph } from './tiny-benchmarks.js';

export interface TinyModel extends Omit<TinyGraph, 'inputs'> {
  readonly inputs: Readonly<Record<string, readonly Dimension[]>>;
  /** Element type of all inputs; float32 by default. */
  readonly elementType?: ElementType;
}

/** The bytes of an ONNX file. */
export function tinyModelFile({ inputs, elementType = 'float32', ...graph }: TinyModel): Uint8Array {
  const types = Object.entries(inputs).map(([name, dims]) => [name, { elementType, dims }] as const);
  return encodeTinyGraph(graph, new Map(types));
}

function weights(dims: readonly number[]): Tensor {
  const values = Float32Array.from({ length: elementCount(dims) }, (_, i) => weightAt(i));
  return { elementType: 'float32', dims, data: { kind: 'inline', bytes: new Uint8Array(values.buffer) } };
}

/** y = relu(x). */
const relu: TinyModel = {
  inputs: { x: ['batch', 3] },
  nodes: [{ opType: 'Relu', inputs: ['x'], outputs: ['y'] }],
  outputs: ['y'],
};

const broken: TinyModel = { ...relu, nodes: [{ opType: 'NoSuchOperator', inputs: ['x'], outputs: ['y'] }] };

/** Three scores for each of 10 tokens: logits = table[tokens]. */
export const TOKENS: TinyModel = {
  inputs: { tokens: ['batch', 'words'] },
  elementType: 'int64',
  nodes: [{ opType: 'Gather', inputs: ['table', 'tokens'], outputs: ['logits'] }],
  outputs: ['logits'],
  constants: { table: weights([10, 3]) },
};

/** The value at an index of a tensor of weights in the tiny models. */
export function weightAt(index: number): number {
  return Math.fround(Math.sin(index * 12.9898));
}

/** Maps 4 by 4 pixels to 5 classes. */
export function classifier(batch: Dimension): TinyModel {
  return {
    inputs: { picture: [batch, 3, 4, 4] },
    nodes: [
      { opType: 'Flatten', inputs: ['picture'], outputs: ['flat'] },
      { opType: 'MatMul', inputs: ['flat', 'w'], outputs: ['scores'] },
    ],
    outputs: ['scores'],
    constants: { w: weights([48, 5]) },
  };
}

/** One run takes half a minute on one thread: 100 products of 2048 by 2048 matrices. */
const endless: TinyModel = {
  inputs: { x: [2048, 2048] },
  nodes: Array.from({ length: 100 }, (_, i) => {
    return { opType: 'MatMul', inputs: [i === 0 ? 'x' : `y${i}`, 'x'], outputs: [`y${i + 1}`] };
  }),
  outputs: ['y100'],
};

export const PICTURE_STEPS: ImageSteps = {
  colorMode: 'RGB',
  geometry: [{ operator: 'resize', height: 4, width: 4, method: 'bilinear' }],
  mean: [128, 128, 128],
  scale: [64, 64, 64],
  layout: 'CHW',
};

export const LABELS = ['ant', 'bee', 'cat', 'dog', 'elk'];

const FILL = { low: -1, high: 1, seed: 1 };

function numbers(name: string, dims: readonly number[], isBatched: boolean): PredictionModel['inputs'][number] {
  return { name, elementType: 'float32', dims, isBatched, sizes: isBatched ? dims.slice(1) : dims, fill: FILL };
}

/** Resized by the shorter side, and cropped to what the model takes. */
const CROPPING_STEPS: ImageSteps = {
  ...PICTURE_STEPS,
  geometry: [
    { operator: 'resize', shorterSide: 64, method: 'bilinear' },
    { operator: 'crop', height: 4, width: 4, anchor: 'center' },
  ],
};

function pictures(size: number | undefined, steps = PICTURE_STEPS): Facts {
  const dims = [size ?? 1, 3, 4, 4];
  return {
    inputs: [{ ...numbers('picture', dims, size === undefined), steps }],
    postprocessors: new Map([['scores', { kind: 'classes', softmax: true, k: 2, labels: LABELS }]]),
    fixedBatchSize: size,
  };
}

type Facts = Pick<PredictionModel, 'inputs' | 'postprocessors' | 'fixedBatchSize'>;

function ofNumbers(dims: readonly number[], isBatched: boolean): Facts {
  return {
    inputs: [numbers('x', dims, isBatched)],
    postprocessors: new Map(),
    fixedBatchSize: isBatched ? undefined : 1,
  };
}

const MODELS: Readonly<Record<string, readonly [TinyModel, Facts]>> = {
  relu: [relu, ofNumbers([1, 3], true)],
  wide: [{ ...relu, inputs: { x: ['batch', 1000] } }, ofNumbers([1, 1000], true)],
  broken: [broken, ofNumbers([1, 3], true)],
  endless: [endless, ofNumbers([2048, 2048], false)],
  classifier: [classifier('batch'), pictures(undefined)],
  cropping: [classifier('batch'), pictures(undefined, CROPPING_STEPS)],
  tokens: [
    TOKENS,
    {
      inputs: [
        {
          name: 'tokens',
          elementType: 'int64',
          dims: [1, 4],
          isBatched: true,
          sizes: [undefined],
          fill: { ...FILL, low: 0, high: 9 },
        },
      ],
      postprocessors: new Map([['logits', { kind: 'classes', row: -1, softmax: false }]]),
      fixedBatchSize: undefined,
    },
  ],
  fixed: [classifier(3), pictures(3)],
};

/** Finds tiny models by name; their version is 1.0.0. Their folder is removed after the suite. */
export function predictionModels(): (name: string, version: string) => Promise<PredictionModel> {
  const folder = mkdtempSync(join(tmpdir(), 'mlmodelscope-test-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return (name, version) => {
    const known = ['', '1.0.0'].includes(version) ? MODELS[name] : undefined;
    if (known === undefined) return Promise.reject(new PlatformError('not_found', `no model ${name} ${version}`));
    const [model, facts] = known;
    const path = join(folder, `${name}.onnx`);
    writeFileSync(path, tinyModelFile(model));
    return Promise.resolve({ name, version: '1.0.0', path, ...facts });
  };
}
