import { fixed } from '../../builder.js';
import { conv, globalAveragePool } from '../../convolution.js';
import { chain, type Layer, mul, relu, sigmoid } from '../../tensor.js';

/** Source: Hu et al., arXiv:1709.01507. */
export function squeezeAndExcite(squeezed: number, { activation = relu, gate = sigmoid } = {}): Layer {
  return (x) => {
    const scales = chain(globalAveragePool, conv(squeezed, 1), activation, conv(fixed(x, 1), 1), gate);
    return mul(scales(x), x);
  };
}
