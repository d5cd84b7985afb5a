import { averagePool, linear } from '../../convolution.js';
import { slice } from '../../shaping.js';
import { flatten, imageNetwork, softmax } from '../../tensor.js';
import type { Network } from '../../builder.js';
import { inceptionV3Features } from '../inception-v3.js';

/** TensorFlow's version, which scores 1008 classes and uses 1001 of them. */
export function inceptionV3(size = 299): Network {
  const pixels = Math.floor((size - 43) / 32);
  return imageNetwork(
    size,
    inceptionV3Features('tensorflow'),
    averagePool(pixels),
    flatten,
    linear(1008),
    slice(1, 0, 1001),
    softmax,
  );
}
