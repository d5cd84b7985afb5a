import { float } from '../onnx/model/make-attributes.js';
import { chain, type Layer, plus, tanh, times } from './tensor.js';

/** Negative values times the slope. */
export function leakyRelu(slope: number): Layer {
  return (x) => x.graph.apply('LeakyRelu', [x], x, [float('alpha', slope)]);
}

/** From [-1, 1] to [0, 1] after tanh, as generators of images end. */
export const tanhImage = chain(tanh, times(0.5), plus(0.5));
