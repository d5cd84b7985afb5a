import { averagePool, branches, conv, maxPool } from '../../convolution.js';
import { localResponseNorm } from '../../normalization.js';
import { pad } from '../../shaping.js';
import { chain, imageNetwork, type Layer, relu } from '../../tensor.js';
import { pooledClasses } from './classes.js';
import type { Network } from '../../builder.js';
import { type Inception, inceptions } from '../inception-v1.js';

function convRelu(channels: number, kernel: number, stride = 1): Layer {
  return chain(conv(channels, kernel, { stride, padding: (kernel - 1) / 2 }), relu);
}

/** Caffe's pool keeps the last, incomplete window: the edge is doubled to complete it. */
export const paddedPool = chain(pad('edge', 0, 1), maxPool(3, { stride: 2 }));

const inception: Inception = (n1, n3r, n3, n5r, n5, projection) =>
  branches(
    convRelu(n1, 1),
    chain(convRelu(n3r, 1), convRelu(n3, 3)),
    chain(convRelu(n5r, 1), convRelu(n5, 5)),
    chain(maxPool(3, { padding: 1 }), convRelu(projection, 1)),
  );

export function inceptionV1(labels: number, size = 224): Network {
  return imageNetwork(
    size,
    convRelu(64, 7, 2),
    paddedPool,
    localResponseNorm,
    convRelu(64, 1),
    convRelu(192, 3),
    localResponseNorm,
    paddedPool,
    inceptions(inception, paddedPool, paddedPool),
    averagePool(size / 32),
    pooledClasses(labels, { dropout: true }),
  );
}
