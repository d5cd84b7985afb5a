import type { Value } from '../builder.js';
import { averagePool, branches, convNormRelu, maxPool } from '../convolution.js';
import type { ZooEntry } from '../entry.js';
import { chain, concat, imageNetwork, type Layer } from '../tensor.js';
import { imageScores, torchvision } from './torchvision.js';

type Kernel = number | readonly [number, number];

function conv(channels: number, kernel: Kernel): Layer {
  const [height, width] = typeof kernel === 'number' ? [kernel, kernel] : kernel;
  return convNormRelu(channels, kernel, { padding: [(height - 1) / 2, (width - 1) / 2], epsilon: 1e-3 });
}

function convValid(channels: number, kernel: number, stride = 1): Layer {
  return convNormRelu(channels, kernel, { stride, epsilon: 1e-3 });
}

const pool = maxPool(3, { stride: 2 });

function pooled(channels: number): Layer {
  return chain(averagePool(3, { padding: 1 }), conv(channels, 1));
}

/** Figure 5: the 5x5 convolution of one branch as two of 3x3. 35x35 pixels. */
function factored(projection: number): Layer {
  return branches(
    conv(64, 1),
    chain(conv(48, 1), conv(64, 5)),
    chain(conv(64, 1), conv(96, 3), conv(96, 3)),
    pooled(projection),
  );
}

/** From 35x35 to 17x17 pixels, as in figure 10. */
const reduction35 = branches(convValid(384, 3, 2), chain(conv(64, 1), conv(96, 3), convValid(96, 3, 2)), pool);

/** Figure 6, n = 7: n x n convolutions as 1 x n and n x 1. 17x17 pixels. */
function asymmetric(channels: number): Layer {
  return branches(
    conv(192, 1),
    chain(conv(channels, 1), conv(channels, [1, 7]), conv(192, [7, 1])),
    chain(conv(channels, 1), conv(channels, [7, 1]), conv(channels, [1, 7]), conv(channels, [7, 1]), conv(192, [1, 7])),
    pooled(192),
  );
}

/** From 17x17 to 8x8 pixels. */
const reduction17 = branches(
  chain(conv(192, 1), convValid(320, 3, 2)),
  chain(conv(192, 1), conv(192, [1, 7]), conv(192, [7, 1]), convValid(192, 3, 2)),
  pool,
);

const sides = [conv(384, [1, 3]), conv(384, [3, 1])] as const;

/** Figure 7. 8x8 pixels. The forks of a branch are concatenated first (`nested`), or all at once (`flat`). */
function expanded(concatenation: 'nested' | 'flat', last: Layer): Layer {
  if (concatenation === 'nested') {
    const forked = branches(...sides);
    return branches(conv(320, 1), chain(conv(384, 1), forked), chain(conv(448, 1), conv(384, 3), forked), last);
  }
  const all = (stem: Layer) => (x: Value) => {
    const value = stem(x);
    return sides.map((side) => side(value));
  };
  const short = all(conv(384, 1));
  const long = all(chain(conv(448, 1), conv(384, 3)));
  return (x) => concat(1, [conv(320, 1)(x), ...short(x), ...long(x), last(x)]);
}

/** Everything before the global pool. */
export function inceptionV3Features(version: 'torchvision' | 'tensorflow'): Layer {
  const isTorchvision = version === 'torchvision';
  const concatenation = isTorchvision ? 'nested' : 'flat';
  return chain(
    convValid(32, 3, 2),
    convValid(32, 3),
    conv(64, 3),
    pool,
    convValid(80, 1),
    convValid(192, 3),
    pool,
    factored(32),
    factored(64),
    factored(64),
    reduction35,
    asymmetric(128),
    asymmetric(160),
    asymmetric(160),
    asymmetric(192),
    reduction17,
    expanded(concatenation, pooled(192)),
    expanded(concatenation, isTorchvision ? pooled(192) : chain(maxPool(3, { padding: 1 }), conv(192, 1))),
  );
}

/** Without the auxiliary classifier. */
export const inceptionV3: ZooEntry = {
  name: 'inception_v3',
  title: 'Inception v3',
  paper: 'Szegedy et al., Rethinking the Inception Architecture for Computer Vision, CVPR 2016, arXiv:1512.00567',
  parameters: 23_834_568,
  multiplyAccumulates: 5_713_000_000,
  source:
    torchvision('Inception_V3_Weights') +
    '; of its 27,161,264 parameters 3,326,696 are in the auxiliary classifier (class InceptionAux)',
  dimensions: { batch: 1 },
  define: imageNetwork(299, inceptionV3Features('torchvision'), imageScores),
};
