import { branches, conv, globalAveragePool, maxPool } from '../convolution.js';
import { chain, flatten, imageNetwork, type Layer, relu } from '../tensor.js';
import { torchvisionClassifiers } from './torchvision.js';

/** The paper's section 3.2. */
function fire(squeeze: number, expand: number): Layer {
  return chain(
    conv(squeeze, 1),
    relu,
    branches(chain(conv(expand, 1), relu), chain(conv(expand, 3, { padding: 1 }), relu)),
  );
}

/** Version 1.1 up to its last convolution. */
export function squeezenetFeatures(firstPool: Layer, pool: Layer): Layer {
  return chain(
    conv(64, 3, { stride: 2 }),
    relu,
    firstPool,
    fire(16, 64),
    fire(16, 64),
    pool,
    fire(32, 128),
    fire(32, 128),
    pool,
    fire(48, 192),
    fire(48, 192),
    fire(64, 256),
    fire(64, 256),
  );
}

const pool = maxPool(3, { stride: 2, ceil: true });

const network = imageNetwork(224, squeezenetFeatures(pool, pool), conv(1000, 1), relu, globalAveragePool, flatten);

const PAPER =
  'Iandola et al., SqueezeNet: AlexNet-level accuracy with 50x fewer parameters and <0.5MB model size, ' +
  'arXiv:1602.07360, 2016; version 1.1 from the official repository';

export const SQUEEZENET = torchvisionClassifiers(PAPER, [
  'squeezenet1.1',
  'SqueezeNet 1.1',
  'SqueezeNet1_1_Weights',
  1_235_496,
  349_000_000,
  network,
]);
