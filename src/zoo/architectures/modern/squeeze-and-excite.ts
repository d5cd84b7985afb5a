import { fixed } from '../../builder.js';
import { conv, globalAveragePool } from '../../convolution.js';
import { chain, type Layer, mul, relu, sigmoid } from '../../tensor.js';

interface ExcitationOptions {
  /** Channels between the two convolutions of 1x1. */
  readonly squeezed: number;
  readonly activation?: Layer;
  readonly gate?: Layer;
}

/** Scales each channel by a factor that is computed from the whole image. Source: Hu et al., arXiv:1709.01507. */
export function squeezeAndExcite({ squeezed, activation = relu, gate = sigmoid }: ExcitationOptions): Layer {
  return (x) => {
    const scales = chain(globalAveragePool, conv(squeezed, 1), activation, conv(fixed(x, 1), 1), gate);
    return mul(scales(x), x);
  };
}
