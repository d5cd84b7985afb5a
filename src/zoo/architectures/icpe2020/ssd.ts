import { fixed, type GraphBuilder, type Network, type Value } from '../../builder.js';
import { conv, maxPool } from '../../convolution.js';
import { entry, pad, reshapeTo, slice } from '../../shaping.js';
import {
  add,
  chain,
  concat,
  exp,
  type Layer,
  log,
  max,
  mul,
  relu,
  softmax,
  softmaxOver,
  sqrt,
  sub,
  times,
  transpose,
} from '../../tensor.js';
import { convolutions, vggStage } from '../vgg.js';

interface Source {
  readonly layers: Layer;
  readonly boxes: 4 | 6;
}

const channelNorm: Layer = (x) => {
  const turned = transpose(x, [0, 3, 2, 1]);
  const square = max(mul(turned, turned), x.graph.scalar('smallest', 1e-20));
  const normalized = transpose(chain(log, softmax, sqrt)(square), [0, 3, 2, 1]);
  return mul(normalized, x.graph.weight('scale', [fixed(x, 1), fixed(x, 2), fixed(x, 3)], 10, 20));
};

/** [batch, boxes, values, height, width] as [batch, all boxes, values]. */
const listed: Layer = (x) => {
  const boxes = fixed(x, 1);
  const values = fixed(x, 2);
  const pixels = fixed(x, 3) * fixed(x, 4);
  return reshapeTo(pixels * boxes, values)(transpose(x, [0, 3, 4, 1, 2]));
};

/** For each box, the probability of each class except the background, or its four coordinates. */
function head(boxes: number, values: number, activation?: Layer): Layer {
  return (x) => {
    const predicted = conv(boxes * values, 3, { padding: 1 })(x);
    const split = reshapeTo(boxes, values, fixed(x, 2), fixed(x, 3))(predicted);
    return activation === undefined ? split : activation(split);
  };
}

/** In pixels, from centers and sizes relative to the default boxes. */
function corners(locations: Value, size: number): Value {
  const { graph } = locations;
  const boxes = fixed(locations, 1);
  const learned = (role: string): Value => graph.weight(role, [boxes], 0.1, 0.9);
  const center = (coordinate: number): Value => {
    const relative = mul(entry(2, coordinate)(locations), learned('extent'));
    return add(relative, learned('center'));
  };
  const extent = (coordinate: number): Value => {
    const factor = chain(times(0.2), exp)(entry(2, coordinate)(locations));
    return times(size)(mul(factor, learned('extent')));
  };
  const x = times(size)(center(0));
  const width = extent(2);
  const left = sub(x, times(0.5)(width));
  const y = times(size)(sub(graph.scalar('one', 1), center(1)));
  const height = extent(3);
  const top = sub(y, times(0.5)(height));
  const right = add(x, times(0.5)(width));
  const bottom = add(y, times(0.5)(height));
  const turned = transpose(reshapeTo(4, boxes)(concat(1, [left, top, right, bottom])), [0, 2, 1]);
  return reshapeTo(boxes, 2, 2)(turned);
}

function define(graph: GraphBuilder, size: number, labels: number, sources: readonly Source[]): void {
  let features = graph.input('input', 'float32', ['batch', 3, size, size]);
  const classes: Value[] = [];
  const locations: Value[] = [];
  for (const [i, { layers, boxes }] of sources.entries()) {
    features = layers(features);
    const seen = i === 0 ? channelNorm(features) : features;
    classes.push(head(boxes, labels + 1, chain(softmaxOver(2), slice(2, 1, labels + 1)))(seen));
    locations.push(head(boxes, 4)(seen));
  }
  const all = (values: readonly Value[]): Value => concat(1, values.map(listed) as [Value, ...Value[]]);
  graph.output('classes', all(classes));
  graph.output('boxes', corners(all(locations), size));
}

function extra(middle: number, last: Layer): Layer {
  return chain(conv(middle, 1), relu, last, relu);
}

const halved = { stride: 2, padding: 1 };

/** VGG-16 up to conv4_3; `third` is the third pool. */
function base(third: Layer, width: number): Layer {
  return chain(
    vggStage(width, 2),
    vggStage(2 * width, 2),
    convolutions(4 * width, 3),
    third,
    convolutions(8 * width, 3),
  );
}

/** From conv4_3 to conv7, whose fully connected layers became convolutions. */
function dilated(width: number): Layer {
  return chain(
    maxPool(2, { stride: 2 }),
    convolutions(8 * width, 3),
    maxPool(3, { padding: 1 }),
    conv(16 * width, 3, { padding: 6, dilation: 6 }),
    relu,
    conv(16 * width, 1),
    relu,
  );
}

/** Liu et al., SSD: Single Shot MultiBox Detector, arXiv:1512.02325, on pictures of 300x300 and 20 classes. */
export function ssd300({ width = 64 } = {}): Network {
  const w2 = 2 * width;
  const w4 = 4 * width;
  const w8 = 8 * width;
  const third = chain(pad('constant', 0, 1), maxPool(2, { stride: 2 }));
  const sources: Source[] = [
    { layers: base(third, width), boxes: 4 },
    { layers: dilated(width), boxes: 6 },
    { layers: extra(w4, chain(pad('constant', 1, 1), conv(w8, 3, { stride: 2 }))), boxes: 6 },
    { layers: extra(w2, conv(w4, 3, halved)), boxes: 6 },
    { layers: extra(w2, conv(w4, 3)), boxes: 4 },
    { layers: extra(w2, conv(w4, 3)), boxes: 4 },
  ];
  return (graph) => define(graph, 300, 20, sources);
}

export function ssd512({ width = 64 } = {}): Network {
  const w2 = 2 * width;
  const w4 = 4 * width;
  const w8 = 8 * width;
  const sources: Source[] = [
    { layers: base(maxPool(2, { stride: 2 }), width), boxes: 4 },
    { layers: dilated(width), boxes: 6 },
    { layers: extra(w4, conv(w8, 3, halved)), boxes: 6 },
    { layers: extra(w2, conv(w4, 3, halved)), boxes: 6 },
    { layers: extra(w2, conv(w4, 3, halved)), boxes: 6 },
    { layers: extra(w2, conv(w4, 3, halved)), boxes: 4 },
    { layers: extra(w2, conv(w4, 4, { padding: 1 })), boxes: 4 },
  ];
  return (graph) => define(graph, 512, 80, sources);
}
