import { fixed, type Value } from '../builder.js';
import { conv, linear } from '../convolution.js';
import type { ZooEntry } from '../entry.js';
import { embedding } from '../initialization.js';
import {
  add,
  chain,
  concat,
  firstEntry,
  firstSlice,
  type Layer,
  matMul,
  mul,
  reshape,
  softmax,
  split,
  transpose,
} from '../tensor.js';
import { dense, gelu, layerNorm, mergeHeads, splitHeads, splitKeyHeads } from '../transformer.js';
import { imageClassifier, torchvision } from './image-classifier.js';

// The paper's table 1, ViT-Base, with patches of 16x16 pixels.
const LAYERS = 12;
const HIDDEN = 768;
const HEADS = 12;
const FEED_FORWARD = 3072;
const PATCH = 16;

const normalize = layerNorm(1e-6);

/** [batch, 3, height, width] pixels as [batch, patch, hidden] (equation 1's x E). */
const patches: Layer = chain(
  conv(HIDDEN, PATCH, { stride: PATCH }),
  (x) => reshape(x, [0, HIDDEN, -1]),
  (x) => transpose(x, [0, 2, 1]),
);

/**
 * The class token in front of each image's patches. It takes its batch from zeros made of the patches: to stretch it
 * with Expand would need the batch as an integer at run time.
 */
const withClassToken: Layer = (x) => {
  const zeros = mul(firstSlice(x), x.graph.scalar('zero', 0));
  return concat(1, [add(zeros, embedding(x.graph, [1, 1, HIDDEN])), x]);
};

const withPositions: Layer = (x) => add(x, embedding(x.graph, [1, fixed(x, 1), HIDDEN]));

/** Both factors are scaled by the root of 1/√d, as exporters write scaled dot-product attention. */
const selfAttention: Layer = (x) => {
  const [query, key, value] = split(dense(3 * HIDDEN)(x), 3) as [Value, Value, Value];
  const scaled = (factor: Value): Value => mul(factor, x.graph.scalar('scale', (HIDDEN / HEADS) ** -0.25));
  const scores = matMul(scaled(splitHeads(query, HEADS)), scaled(splitKeyHeads(key, HEADS)));
  return dense(HIDDEN)(mergeHeads(matMul(softmax(scores), splitHeads(value, HEADS))));
};

/** Equations 2 and 3. */
const encoderLayer: Layer = (x) => {
  const attended = add(selfAttention(normalize(x)), x);
  return add(attended, chain(normalize, dense(FEED_FORWARD), gelu, dense(HIDDEN))(attended));
};

export const vitB16: ZooEntry = {
  name: 'vit_b_16',
  title: 'ViT-B/16',
  paper: 'Dosovitskiy et al., An Image is Worth 16x16 Words, ICLR 2021, arXiv:2010.11929',
  published: {
    parameters: 86_567_656,
    multiplyAccumulates: 17_564_000_000,
    source: torchvision('ViT_B_16_Weights'),
  },
  dimensions: { batch: 1 },
  define: imageClassifier(
    224,
    chain(
      patches,
      withClassToken,
      withPositions,
      ...Array.from({ length: LAYERS }, () => encoderLayer),
      normalize,
      firstEntry,
      linear(1000),
    ),
  ),
};
