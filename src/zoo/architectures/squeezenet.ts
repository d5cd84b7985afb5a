import { branches, conv, globalAveragePool, maxPool } from '../convolution.js';
import { chain, flatten, type Layer, relu } from '../tensor.js';
import { imageClassifier, torchvisionClassifier } from './image-classifier.js';

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

export const squeezenet11 = torchvisionClassifier('SqueezeNet1_1_Weights', {
  name: 'squeezenet1.1',
  title: 'SqueezeNet 1.1',
  paper:
    'Iandola et al., SqueezeNet: AlexNet-level accuracy with 50x fewer parameters and <0.5MB model size, ' +
    'arXiv:1602.07360, 2016; version 1.1 from the official repository',
  parameters: 1_235_496,
  multiplyAccumulates: 349_000_000,
  define: imageClassifier(224, chain(squeezenetFeatures(pool, pool), conv(1000, 1), relu, globalAveragePool, flatten)),
});
