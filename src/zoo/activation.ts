import { float } from '../onnx/model/make-attributes.js';
import { chain, type Layer, plus, tanh, times } from './tensor.js';

export function leakyRelu(slope: number): Layer {
  return (x) => x.graph.apply('LeakyRelu', [x], x, [float('alpha', slope)]);
}

/** From [-1, 1] to [0, 1]: the end of an image generator. */
export const tanhImage = chain(tanh, times(0.5), plus(0.5));

/** Source: Howard et al., Searching for MobileNetV3, arXiv:1905.02244, section 5.2. */
export const hardSigmoid: Layer = (x) =>
  x.graph.apply('HardSigmoid', [x], x, [float('alpha', 1 / 6), float('beta', 0.5)]);

export const hardSwish: Layer = (x) => x.graph.apply('HardSwish', [x], x);
