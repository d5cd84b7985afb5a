import { fixed, type Value } from '../builder.js';
import { conv, linear } from '../convolution.js';
import type { ZooEntry } from '../entry.js';
import { embedding } from '../initialization.js';
import { entry, slice } from '../shaping.js';
import {
  add,
  chain,
  concat,
  imageNetwork,
  type Layer,
  matMul,
  mul,
  repeated,
  reshape,
  softmax,
  split,
  transpose,
} from '../tensor.js';
import { dense, gelu, layerNorm, mergeHeads, splitHeads, splitKeyHeads, type TransformerSize } from '../transformer.js';
import { torchvisionClassifiers } from './torchvision.js';

export interface VitSize extends TransformerSize {
  /** In pixels. */
  readonly patch: number;
}

const normalize = layerNorm(1e-6);

export function patches(hidden: number, patch: number, options: { readonly bias?: boolean } = {}): Layer {
  return chain(
    conv(hidden, patch, { stride: patch, ...options }),
    (x) => reshape(x, [0, hidden, -1]),
    (x) => transpose(x, [0, 2, 1]),
  );
}

/** The batch dimension comes from zeros computed from the patches: Expand would need the batch size at run time. */
export const withClassToken: Layer = (x) => {
  const zeros = mul(slice(1, 0, 1)(x), x.graph.scalar('zero', 0));
  return concat(1, [add(zeros, embedding(x.graph, [1, 1, fixed(x, 2)])), x]);
};

export const withPositions: Layer = (x) => add(x, embedding(x.graph, [1, fixed(x, 1), fixed(x, 2)]));

/** Both factors are scaled by the root of 1/√d, as exporters write scaled dot-product attention. */
function selfAttention({ hidden, heads }: VitSize): Layer {
  return (x) => {
    const [query, key, value] = split(dense(3 * hidden)(x), 3) as [Value, Value, Value];
    const scaled = (factor: Value): Value => mul(factor, x.graph.scalar('scale', (hidden / heads) ** -0.25));
    const scores = matMul(scaled(splitHeads(query, heads)), scaled(splitKeyHeads(key, heads)));
    return dense(hidden)(mergeHeads(matMul(softmax(scores), splitHeads(value, heads))));
  };
}

function encoderLayer(size: VitSize): Layer {
  return (x) => {
    const attended = add(selfAttention(size)(normalize(x)), x);
    return add(attended, chain(normalize, dense(4 * size.hidden), gelu, dense(size.hidden))(attended));
  };
}

export function vit(size: VitSize, pixels = 224) {
  return imageNetwork(
    pixels,
    patches(size.hidden, size.patch),
    withClassToken,
    withPositions,
    repeated(size.layers, encoderLayer(size)),
    normalize,
    entry(1, 0),
    linear(1000),
  );
}

const vitB = vit({ layers: 12, hidden: 768, heads: 12, patch: 16 });

export const VIT = torchvisionClassifiers(
  'Dosovitskiy et al., An Image is Worth 16x16 Words, ICLR 2021, arXiv:2010.11929',
  ['vit_b_16', 'ViT-B/16', 'ViT_B_16_Weights', 86_567_656, 17_564_000_000, vitB],
);

/** Without the distillation token. */
export const deitS: ZooEntry = {
  name: 'deit_s',
  title: 'DeiT-S',
  paper: 'Touvron et al., Training data-efficient image transformers, ICML 2021, arXiv:2012.12877',
  parameters: 22_050_664,
  multiplyAccumulates: 4_598_882_304,
  source:
    'parameters: deit_small_patch16_224 of its repository (the paper rounds to 22M); multiply-accumulates: the ' +
    'matrix products in appendix F of Hoffmann et al., arXiv:2203.15556, the patches and the head',
  dimensions: { batch: 1 },
  define: vit({ layers: 12, hidden: 384, heads: 6, patch: 16 }),
};
