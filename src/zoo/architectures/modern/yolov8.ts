import { fixed, type Network, type Value } from '../../builder.js';
import { batchNorm, conv, maxPool } from '../../convolution.js';
import type { ZooEntry } from '../../entry.js';
import { reshapeTo, resize, slice } from '../../shaping.js';
import {
  add,
  chain,
  concat,
  type Layer,
  mul,
  reshape,
  sigmoid,
  silu,
  softmaxOver,
  sub,
  transpose,
} from '../../tensor.js';

const CLASSES = 80;
/** Possible distances to a box's side, whose probabilities each cell predicts. */
const BINS = 16;

function convolution(channels: number, kernel = 1, stride = 1): Layer {
  return chain(conv(channels, kernel, { stride, padding: (kernel - 1) / 2, bias: false }), batchNorm(1e-3), silu);
}

/** "C2f". */
function c2f(channels: number, depth: number, hasShortcut: boolean): Layer {
  const half = channels / 2;
  const bottleneck: Layer = (x) => {
    const body = chain(convolution(half, 3), convolution(half, 3))(x);
    return hasShortcut ? add(x, body) : body;
  };
  return (x) => {
    const both = convolution(channels)(x);
    let last = slice(1, half, channels)(both);
    const kept: [Value, ...Value[]] = [slice(1, 0, half)(both), last];
    for (let i = 0; i < depth; i++) kept.push((last = bottleneck(last)));
    return convolution(channels)(concat(1, kept));
  };
}

/** "SPPF". */
function pooledPyramid(channels: number): Layer {
  return (x) => {
    const pool = maxPool(5, { padding: 2 });
    const first = convolution(channels / 2)(x);
    const second = pool(first);
    const third = pool(second);
    return convolution(channels)(concat(1, [first, second, third, pool(third)]));
  };
}

const enlarge = resize('nearest', 2);

interface YoloSize {
  readonly size: number;
  readonly width: number;
}

/** Distances to a box's sides and the score of each class: [batch, 64 + 80, cell]. */
function detect(x: Value, width: number): Value {
  const boxes = Math.max(16, width, 4 * BINS);
  const classes = Math.max(4 * width, CLASSES);
  const distances = chain(convolution(boxes, 3), convolution(boxes, 3), conv(4 * BINS, 1))(x);
  const scores = chain(convolution(classes, 3), convolution(classes, 3), conv(CLASSES, 1))(x);
  return reshapeTo(4 * BINS + CLASSES, fixed(x, 2) * fixed(x, 3))(concat(1, [distances, scores]));
}

/** `stride`: the pixels from one cell to the next. */
interface Scale {
  readonly cells: number;
  readonly stride: number;
}

/** In cells: first all columns, then all rows. */
function computeCenters(scales: readonly Scale[]): number[] {
  const along = (coordinate: (i: number, cells: number) => number): number[] =>
    scales.flatMap(({ cells }) => Array.from({ length: cells ** 2 }, (_, i) => coordinate(i, cells) + 0.5));
  return [...along((i, cells) => i % cells), ...along((i, cells) => Math.floor(i / cells))];
}

/** In pixels, from the expected distances (Li et al., Generalized Focal Loss, arXiv:2006.04388). */
function computeBoxes(distances: Value, scales: readonly Scale[]): Value {
  const { graph } = distances;
  const cells = fixed(distances, 2);
  const probabilities = softmaxOver(1)(transpose(reshapeTo(4, BINS, cells)(distances), [0, 2, 1, 3]));
  const expected = reshapeTo(4, cells)(conv(1, 1, { bias: false })(probabilities));
  const anchors = reshape(graph.floats('centers', computeCenters(scales)), [2, cells]);
  const topLeft = sub(anchors, slice(1, 0, 2)(expected));
  const bottomRight = add(anchors, slice(1, 2, 4)(expected));
  const strides = scales.flatMap(({ cells, stride }) => Array.from({ length: cells ** 2 }, () => stride));
  return mul(concat(1, [topLeft, bottomRight]), graph.floats('strides', strides));
}

/** With boxes as corners, without non-maximum suppression. */
export function yoloV8({ size, width }: YoloSize): Network {
  const w2 = 2 * width;
  const w4 = 4 * width;
  const w8 = 8 * width;
  const w16 = 16 * width;
  return (graph) => {
    const image = graph.input('images', 'float32', ['batch', 3, size, size]);
    const fine = chain(
      convolution(width, 3, 2),
      convolution(w2, 3, 2),
      c2f(w2, 1, true),
      convolution(w4, 3, 2),
      c2f(w4, 2, true),
    )(image);
    const middle = chain(convolution(w8, 3, 2), c2f(w8, 2, true))(fine);
    const coarse = chain(convolution(w16, 3, 2), c2f(w16, 1, true), pooledPyramid(w16))(middle);
    const up = c2f(w8, 1, false)(concat(1, [enlarge(coarse), middle]));
    const small = c2f(w4, 1, false)(concat(1, [enlarge(up), fine]));
    const medium = c2f(w8, 1, false)(concat(1, [convolution(w4, 3, 2)(small), up]));
    const large = c2f(w16, 1, false)(concat(1, [convolution(w8, 3, 2)(medium), coarse]));
    const all = concat(2, [detect(small, width), detect(medium, width), detect(large, width)]);
    const scales = [8, 16, 32].map((stride) => ({ cells: size / stride, stride }));
    const boxes = computeBoxes(slice(1, 0, 4 * BINS)(all), scales);
    const scores = sigmoid(slice(1, 4 * BINS, 4 * BINS + CLASSES)(all));
    graph.output('output', concat(1, [boxes, scores]));
  };
}

export const yoloV8n: ZooEntry = {
  name: 'yolov8n',
  title: 'YOLOv8-n-like detector',
  paper: 'Jocher et al., Ultralytics YOLOv8, 2023, github.com/ultralytics/ultralytics',
  parameters: 3_157_200,
  multiplyAccumulates: 4_350_000_000,
  source:
    'parameters: the summary in ultralytics/cfg/models/v8/yolov8.yaml (its 8.9 GFLOPs count normalizations, too); ' +
    'multiply-accumulates: 8.7 GFLOPs of two each, the summary that the package prints of the fused yolov8n.pt',
  dimensions: { batch: 1 },
  define: yoloV8({ size: 640, width: 16 }),
};
