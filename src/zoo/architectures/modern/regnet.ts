import { fixed } from '../../builder.js';
import { batchNorm, conv, convNormRelu, residual } from '../../convolution.js';
import { chain, type Layer, relu } from '../../tensor.js';
import { imageClassifier, imageScores, torchvisionClassifier } from '../image-classifier.js';
import { squeezeAndExcite } from './squeeze-and-excite.js';

interface RegnetOptions {
  readonly stages: readonly (readonly [channels: number, depth: number])[];
  /** Channels of a group. */
  readonly groupWidth: number;
  readonly size?: number;
}

/** The paper's Y block. */
function block(channels: number, stride: number, groupWidth: number): Layer {
  return (x) => {
    const inputs = fixed(x, 1);
    const body = chain(
      convNormRelu(channels, 1),
      convNormRelu(channels, 3, { stride, padding: 1, groups: channels / groupWidth }),
      squeezeAndExcite({ squeezed: Math.round(inputs / 4) }),
      conv(channels, 1, { bias: false }),
      batchNorm(),
    );
    const projection = chain(conv(channels, 1, { stride, bias: false }), batchNorm());
    return relu(residual(body, inputs === channels && stride === 1 ? undefined : projection)(x));
  };
}

export function regnetY({ stages, groupWidth, size = 224 }: RegnetOptions) {
  const blocks = stages.flatMap(([channels, depth]) =>
    Array.from({ length: depth }, (_, i) => block(channels, i === 0 ? 2 : 1, groupWidth)),
  );
  return imageClassifier(size, chain(convNormRelu(32, 3, { stride: 2, padding: 1 }), ...blocks, imageScores));
}

export const regnetY800mf = torchvisionClassifier('RegNet_Y_800MF_Weights', {
  name: 'regnet_y_800mf',
  title: 'RegNetY-800MF',
  paper: 'Radosavovic et al., Designing Network Design Spaces, CVPR 2020, arXiv:2003.13678',
  parameters: 6_432_512,
  multiplyAccumulates: 834_000_000,
  define: regnetY({
    stages: [
      [64, 1],
      [144, 3],
      [320, 8],
      [784, 2],
    ],
    groupWidth: 16,
  }),
});
