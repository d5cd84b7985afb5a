import { averagePool, branches, conv, maxPool } from '../../convolution.js';
import { localResponseNorm } from '../../normalization.js';
import { pad } from '../../shaping.js';
import { chain, type Layer, relu } from '../../tensor.js';
import { imageNetwork, type Network, pooledClasses } from './network.js';

function convRelu(channels: number, kernel: number, stride = 1): Layer {
  return chain(conv(channels, kernel, { stride, padding: (kernel - 1) / 2 }), relu);
}

/** Caffe's pool keeps the last, incomplete window: the edge is doubled to complete it. */
export const paddedPool = chain(pad('edge', 0, 1), maxPool(3, { stride: 2 }));

/** A row of the paper's table 1: #1x1, #3x3 reduce, #3x3, #5x5 reduce, #5x5, pool proj. */
function inception(n1: number, n3r: number, n3: number, n5r: number, n5: number, projection: number): Layer {
  return branches(
    convRelu(n1, 1),
    chain(convRelu(n3r, 1), convRelu(n3, 3)),
    chain(convRelu(n5r, 1), convRelu(n5, 5)),
    chain(maxPool(3, { padding: 1 }), convRelu(projection, 1)),
  );
}

export function inceptionV1(labels: number, size = 224): Network {
  return imageNetwork(
    [3, size, size],
    chain(
      convRelu(64, 7, 2),
      paddedPool,
      localResponseNorm,
      convRelu(64, 1),
      convRelu(192, 3),
      localResponseNorm,
      paddedPool,
      inception(64, 96, 128, 16, 32, 32), // 3a
      inception(128, 128, 192, 32, 96, 64), // 3b
      paddedPool,
      inception(192, 96, 208, 16, 48, 64), // 4a
      inception(160, 112, 224, 24, 64, 64), // 4b
      inception(128, 128, 256, 24, 64, 64), // 4c
      inception(112, 144, 288, 32, 64, 64), // 4d
      inception(256, 160, 320, 32, 128, 128), // 4e
      paddedPool,
      inception(256, 160, 320, 32, 128, 128), // 5a
      inception(384, 192, 384, 48, 128, 128), // 5b
      averagePool(size / 32),
      pooledClasses(labels, { dropout: true }),
    ),
  );
}
