import { float, int } from '../onnx/model/make-attributes.js';
import { fixed } from './builder.js';
import { bias, scale } from './initialization.js';
import type { Layer } from './tensor.js';

interface InstanceNormOptions {
  readonly isLearned?: boolean;
}

export function instanceNorm(epsilon = 1e-5, { isLearned = true }: InstanceNormOptions = {}): Layer {
  return (x) => {
    const { graph } = x;
    const channels = fixed(x, 1);
    const constant = (value: number): number[] => Array.from({ length: channels }, () => value);
    const parameters = isLearned
      ? [scale(graph, channels), bias(graph, channels)]
      : [graph.floats('ones', constant(1)), graph.floats('zeros', constant(0))];
    return graph.apply('InstanceNormalization', [x, ...parameters], x, [float('epsilon', epsilon)]);
  };
}

/** Over five channels. Source: Krizhevsky et al., NIPS 2012, section 3.3. */
export const localResponseNorm: Layer = (x) =>
  x.graph.apply('LRN', [x], x, [float('alpha', 1e-4), float('beta', 0.75), float('bias', 1), int('size', 5)]);
