import { float, int } from '../onnx/model/make-attributes.js';
import { fixed } from './builder.js';
import { bias, scale } from './initialization.js';
import type { Layer } from './tensor.js';

/** Normalizes every channel of every image by itself. */
export function instanceNorm(epsilon = 1e-5): Layer {
  return (x) => {
    const channels = fixed(x, 1);
    const inputs = [x, scale(x.graph, channels), bias(x.graph, channels)];
    return x.graph.apply('InstanceNormalization', inputs, x, [float('epsilon', epsilon)]);
  };
}

/** Local response normalization over five channels. Source: Krizhevsky et al., NIPS 2012, section 3.3. */
export const localResponseNorm: Layer = (x) =>
  x.graph.apply('LRN', [x], x, [float('alpha', 1e-4), float('beta', 0.75), float('bias', 1), int('size', 5)]);
