import { fixed, type Value } from '../builder.js';
import { averagePool, batchNorm, conv, convNormRelu, maxPool } from '../convolution.js';
import { chain, concat, imageNetwork, type Layer, relu } from '../tensor.js';
import { imageScores, torchvisionClassifiers } from './torchvision.js';

/** The paper's k. */
const GROWTH = 32;

/** DenseNet-B's H (section 3): normalize, 1x1 down to 4k channels, normalize, 3x3 to k channels. */
const bottleneck = chain(batchNorm(), relu, convNormRelu(4 * GROWTH, 1), conv(GROWTH, 3, { padding: 1, bias: false }));

/** Every layer reads the outputs of all layers before it (equation 2). */
function denseBlock(depth: number): Layer {
  return (x) => {
    const features: [Value, ...Value[]] = [x];
    let all = x;
    for (let layer = 0; layer < depth; layer++) {
      features.push(bottleneck(all));
      all = concat(1, features);
    }
    return all;
  };
}

/** Halves channels (the paper's θ = 0.5) and image. */
const transition: Layer = (x) =>
  chain(batchNorm(), relu, conv(fixed(x, 1) / 2, 1, { bias: false }), averagePool(2, { stride: 2 }))(x);

const PAPER = 'Huang et al., Densely Connected Convolutional Networks, CVPR 2017, arXiv:1608.06993';

/** A column of the paper's table 1. */
function densenet([first, ...depths]: readonly [number, number, number, number]) {
  return imageNetwork(
    224,
    convNormRelu(64, 7, { stride: 2, padding: 3 }),
    maxPool(3, { stride: 2, padding: 1 }),
    denseBlock(first),
    ...depths.flatMap((depth) => [transition, denseBlock(depth)]),
    batchNorm(),
    relu,
    imageScores,
  );
}

export const DENSENETS = torchvisionClassifiers(
  PAPER,
  ['densenet121', 'DenseNet-121', 'DenseNet121_Weights', 7_978_856, 2_834_000_000, densenet([6, 12, 24, 16])],
  ['densenet169', 'DenseNet-169', 'DenseNet169_Weights', 14_149_480, 3_360_000_000, densenet([6, 12, 32, 32])],
);
