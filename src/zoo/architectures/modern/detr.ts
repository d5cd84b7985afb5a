import { fixed, type Network, type Value } from '../../builder.js';
import { conv, convNormRelu, maxPool } from '../../convolution.js';
import type { ZooEntry } from '../../entry.js';
import { embedding } from '../../initialization.js';
import { expand, slice } from '../../shaping.js';
import {
  add,
  chain,
  type Layer,
  matMul,
  mul,
  relu,
  repeated,
  reshape,
  sigmoid,
  softmax,
  times,
  transpose,
} from '../../tensor.js';
import { dense, layerNorm, mergeHeads, splitHeads, splitKeyHeads, type TransformerSize } from '../../transformer.js';
import { makeBottleneck, stages } from '../resnet.js';

interface DetrSize extends TransformerSize {
  readonly height: number;
  readonly width: number;
  readonly depths: readonly [number, number, number, number];
  readonly feedForward: number;
  readonly queries: number;
}

const CLASSES = 92;

const norm = layerNorm(1e-5);

interface Sources {
  readonly query: Value;
  readonly key: Value;
  readonly value: Value;
}

/** Queries and keys carry positions, values do not (the paper's appendix A.3). */
function attend({ query, key, value }: Sources, heads: number): Value {
  const hidden = fixed(query, 2);
  const keys = splitKeyHeads(dense(hidden)(key), heads);
  const scaled = mul(dense(hidden)(query), query.graph.scalar('scale', (heads / hidden) ** 0.5));
  const weights = softmax(matMul(splitHeads(scaled, heads), keys));
  return dense(hidden)(mergeHeads(matMul(weights, splitHeads(dense(hidden)(value), heads))));
}

function feed(hidden: number, feedForward: number): Layer {
  return (x) => norm(add(x, chain(dense(feedForward), relu, dense(hidden))(x)));
}

/** Positions of the image's cells are an input: else the model would compute them from a mask of the image. */
export function detr(size: DetrSize): Network {
  const { hidden, heads, feedForward, layers, queries } = size;
  return (graph) => {
    const image = graph.input('pixel_values', 'float32', ['batch', 3, size.height, size.width]);
    const backbone = chain(
      convNormRelu(64, 7, { stride: 2, padding: 3 }),
      maxPool(3, { stride: 2, padding: 1 }),
      stages(makeBottleneck(), 64, size.depths),
      conv(hidden, 1),
    )(image);
    const cells = fixed(backbone, 2) * fixed(backbone, 3);
    const positions = graph.input('positions', 'float32', ['batch', cells, hidden]);
    const encode: Layer = (x) => {
      const placed = add(x, positions);
      return feed(hidden, feedForward)(norm(add(x, attend({ query: placed, key: placed, value: x }, heads))));
    };
    const flat = transpose(reshape(backbone, [0, hidden, -1]), [0, 2, 1]);
    const memory = repeated(layers, encode)(flat);
    const keys = add(memory, positions);
    const wanted = embedding(graph, [1, queries, hidden]);
    const decode: Layer = (x) => {
      const placed = add(x, wanted);
      const own = norm(add(x, attend({ query: placed, key: placed, value: x }, heads)));
      const seen = norm(add(own, attend({ query: add(own, wanted), key: keys, value: memory }, heads)));
      return feed(hidden, feedForward)(seen);
    };
    const objects = chain(repeated(layers, decode), norm)(nothing(memory, queries));
    graph.output('logits', dense(CLASSES)(objects));
    graph.output('boxes', chain(dense(hidden), relu, dense(hidden), relu, dense(4), sigmoid)(objects));
  };
}

function nothing(memory: Value, queries: number): Value {
  return expand(times(0)(slice(1, 0, 1)(memory)), [1, queries, 1]);
}

export const detrResnet50: ZooEntry = {
  name: 'detr_resnet50',
  title: 'DETR, ResNet-50',
  paper: 'Carion et al., End-to-End Object Detection with Transformers, ECCV 2020, arXiv:2005.12872',
  // The published number leaves out the scales and shifts of the frozen normalizations, which have 26,560 channels.
  parameters: 41_524_768 + 2 * 26_560,
  source:
    'DetrForObjectDetection of facebook/detr-resnet-50, 41,524,768 (the paper rounds to 41M), and the frozen ' +
    'normalizations of the backbone',
  dimensions: { batch: 1 },
  define: detr({
    height: 800,
    width: 1088,
    depths: [3, 4, 6, 3],
    hidden: 256,
    heads: 8,
    feedForward: 2048,
    layers: 6,
    queries: 100,
  }),
};
