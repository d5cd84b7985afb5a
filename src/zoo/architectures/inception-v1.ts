import { branches, convNormRelu, maxPool } from '../convolution.js';
import { chain, imageNetwork, type Layer } from '../tensor.js';
import { imageScores, torchvisionClassifiers } from './torchvision.js';

/** From TensorFlow. */
const EPSILON = 1e-3;

function conv1(channels: number): Layer {
  return convNormRelu(channels, 1, { epsilon: EPSILON });
}

function conv3(channels: number): Layer {
  return convNormRelu(channels, 3, { padding: 1, epsilon: EPSILON });
}

function pool(kernel: number): Layer {
  return maxPool(kernel, { stride: 2, ceil: true });
}

/** A row of the paper's table 1: #1x1, #3x3 reduce, #3x3, #5x5 reduce, #5x5, pool proj. */
export type Inception = (n1: number, n3r: number, n3: number, n5r: number, n5: number, projection: number) => Layer;

/** Where the paper has 5x5, the trained models have 3x3. */
const inception: Inception = (n1, n3r, n3, n5r, n5, projection) =>
  branches(
    conv1(n1),
    chain(conv1(n3r), conv3(n3)),
    chain(conv1(n5r), conv3(n5)),
    chain(maxPool(3, { padding: 1, ceil: true }), conv1(projection)),
  );

/** The paper's table 1 from 3a to 5b. */
export function inceptions(inception: Inception, firstPool: Layer, secondPool: Layer): Layer {
  return chain(
    inception(64, 96, 128, 16, 32, 32), // 3a
    inception(128, 128, 192, 32, 96, 64), // 3b
    firstPool,
    inception(192, 96, 208, 16, 48, 64), // 4a
    inception(160, 112, 224, 24, 64, 64), // 4b
    inception(128, 128, 256, 24, 64, 64), // 4c
    inception(112, 144, 288, 32, 64, 64), // 4d
    inception(256, 160, 320, 32, 128, 128), // 4e
    secondPool,
    inception(256, 160, 320, 32, 128, 128), // 5a
    inception(384, 192, 384, 48, 128, 128), // 5b
  );
}

/** With batch normalization, and without the auxiliary classifiers. */
const network = imageNetwork(
  224,
  convNormRelu(64, 7, { stride: 2, padding: 3, epsilon: EPSILON }),
  pool(3),
  conv1(64),
  conv3(192),
  pool(3),
  inceptions(inception, pool(3), pool(2)),
  imageScores,
);

export const INCEPTION_V1 = torchvisionClassifiers(
  'Szegedy et al., Going Deeper with Convolutions, CVPR 2015, arXiv:1409.4842',
  ['inception_v1', 'Inception v1 (GoogLeNet)', 'GoogLeNet_Weights', 6_624_904, 1_498_000_000, network],
);
