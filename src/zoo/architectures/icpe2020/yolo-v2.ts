import { leakyRelu } from '../../activation.js';
import { fixed, type Network, type Value } from '../../builder.js';
import { batchNorm, conv, maxPool } from '../../convolution.js';
import { entry, pad, reshapeTo, slice } from '../../shaping.js';
import { add, chain, concat, div, exp, type Layer, mul, sigmoid, softmaxOver, transpose } from '../../tensor.js';

const ANCHORS = 5;
const CLASSES = 80;

function convolutions(...channels: readonly number[]): Layer {
  const convolution = (count: number, i: number): Layer => {
    const kernel = i % 2 === 0 ? 3 : 1;
    const body = conv(count, kernel, { padding: (kernel - 1) / 2, bias: false });
    return chain(body, batchNorm(1e-6), leakyRelu(0.1));
  };
  return chain(...channels.map(convolution));
}

const pool = chain(pad('constant', 0, 1), maxPool(2, { stride: 2 }));

/** Squares of 2x2 pixels become channels, in Darknet's own order. */
const reorganize: Layer = (x) => {
  const channels = fixed(x, 1);
  const size = fixed(x, 2);
  const split = reshapeTo((channels * size) / 4, 2, size, 2)(x);
  return reshapeTo(4 * channels, size / 2, size / 2)(transpose(split, [0, 2, 4, 1, 3]));
};

/** [batch, values, anchors, height, width] as [batch, all boxes, values]. */
const listed: Layer = (x) => {
  const boxes = fixed(x, 2) * fixed(x, 3) * fixed(x, 4);
  return transpose(reshapeTo(fixed(x, 1), boxes)(x), [0, 2, 1]);
};

/** Relative to the picture. */
function computeBoxes(coordinates: Value): Value {
  const [, , , height, width] = coordinates.dims as readonly number[];
  const { graph } = coordinates;
  const constant = (role: string, values: number): Value =>
    graph.weight(role, [values, ANCHORS, height ?? 1, width ?? 1], 1, 13);
  const centers = add(slice(1, 0, 2)(coordinates), constant('grid', 2));
  const sizes = mul(exp(slice(1, 2, 4)(coordinates)), constant('anchors', 2));
  return listed(div(concat(1, [centers, sizes]), constant('extent', 4)));
}

/** Redmon and Farhadi, YOLO9000, arXiv:1612.08242, without non-maximum suppression. */
export function yoloV2({ size = 416, width = 32 } = {}): Network {
  return (graph) => {
    const image = graph.input('input', 'float32', ['batch', 3, size, size]);
    const fine = chain(
      convolutions(width),
      pool,
      convolutions(2 * width),
      pool,
      convolutions(4 * width, 2 * width, 4 * width),
      pool,
      convolutions(8 * width, 4 * width, 8 * width),
      pool,
      convolutions(16 * width, 8 * width, 16 * width, 8 * width, 16 * width),
    )(image);
    const narrowed = chain(conv(2 * width, 1, { bias: false }), batchNorm(1e-6), leakyRelu(0.1));
    const passed = chain(narrowed, reorganize)(fine);
    const coarse = chain(
      pool,
      convolutions(32 * width, 16 * width, 32 * width, 16 * width, 32 * width),
      convolutions(32 * width),
      convolutions(32 * width),
    )(fine);
    const predicted = chain(
      convolutions(32 * width),
      conv(ANCHORS * (CLASSES + 5), 1),
      (x) => reshapeTo(ANCHORS, CLASSES + 5, fixed(x, 2), fixed(x, 3))(x),
      (x) => transpose(x, [0, 2, 1, 3, 4]),
    )(concat(1, [passed, coarse]));
    const cells = fixed(predicted, 3) * fixed(predicted, 4);
    const classes = chain(slice(1, 5, 5 + CLASSES), softmaxOver(1), listed);
    const confidence = chain(entry(1, 4), sigmoid, reshapeTo(ANCHORS * cells));
    const centers = chain(slice(1, 0, 2), sigmoid);
    graph.output('classes', classes(predicted));
    graph.output('confidence', confidence(predicted));
    graph.output('boxes', computeBoxes(concat(1, [centers(predicted), slice(1, 2, 4)(predicted)])));
  };
}
